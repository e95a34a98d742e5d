#include "solver/multigrid/passes/grid_pass.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "perfmodel/simd.h"
#include "solver/multigrid/passes/pass_grids.h"

namespace weft::solver {
namespace {

using spmv::GlobalIndex;
using spmv::GridBox;

constexpr std::size_t most_steps = Smoother::most_steps;

/// A plane of an array.
template <class Value>
typename PlaneRing<Value>::Plane plane_of(const GridArray<Value>& array, GlobalIndex z,
                                          const GridBox& domain, const Value* zeros) {
  typename PlaneRing<Value>::Plane plane;
  plane.zeros = zeros;
  if (z < 0 || z >= domain.end[2]) return plane;
  plane.size = domain.end[1];
  plane.first = const_cast<Value*>(array.row(0, z));
  plane.stride = array.layout().row_stride();
  return plane;
}

bool has_plane(const GridBox& box, GlobalIndex z) {
  return !box.is_empty() && z >= box.begin[2] && z < box.end[2];
}

RowRange range_in_x(const GridBox& box, const GridBox& domain) {
  return {box.begin[0], box.end[0], domain.end[0]};
}

/// Rows between the one that is prefetched from memory and the one that is computed. The hardware
/// follows a row, but not the turns that a pass takes between planes of several arrays.
constexpr GlobalIndex fetched_rows = 3;

/// Prefetches what `deliver` updates, or r and the array, which comes from memory as r does.
template <class Value>
[[gnu::always_inline]] inline void fetch_result(const typename UpPass<Value>::Sink& sink,
                                                GlobalIndex y, GlobalIndex z, RowRange range) {
  const double* const from = sink.values ? sink.values : sink.r;
  fetch_row(from + sink.layout->index(range.begin, y, z) - range.begin, range);
  if (sink.direction) fetch_row(sink.direction->row(y, z), range);
  if (sink.array) fetch_row(sink.array->row(y, z), range);
}

/// A row of the result.
template <class Value>
[[gnu::always_inline]] inline void deliver(const typename UpPass<Value>::Sink& sink, GlobalIndex y,
                                           GlobalIndex z, RowRange range, const Value* row) {
  double* const values = sink.values + sink.layout->index(range.begin, y, z) - range.begin;
  if (sink.direction)
    update_row(range, static_cast<Value>(sink.old), static_cast<Value>(sink.fresh), row,
               sink.direction->row(y, z), sink.factor, values);
  else
    widen_row(range, row, sink.factor, values);
}

/// Adds r·(factor·x) of a row.
template <class Simd, class Value>
[[gnu::always_inline]] inline void add_sink_product(const typename UpPass<Value>::Sink& sink,
                                                    GlobalIndex y, GlobalIndex z, RowRange range,
                                                    const Value* row) {
  spmv::BinnedSum::In<Simd> sum(*sink.r_dot_x);
  product_row<Simd>(range, row, sink.factor,
                    sink.r + sink.layout->index(range.begin, y, z) - range.begin, sum);
  sum.store(*sink.r_dot_x);
}

}  // namespace

template <class Value>
DownPass<Value>::DownPass(const GridLevel& fine, const GridLevel& coarse, int steps,
                          const LevelCouplings<Value>* couplings)
    : fine_(fine),
      coarse_(coarse),
      smoother_(steps, fine.largest_eigenvalue()),
      couplings_(couplings) {
  if (!couplings) first_steps_.emplace(fine, smoother_.step(0), smoother_.step(1));
}

/// One tile of a pass: its stages, and their planes in the cache of the thread that runs it.
template <class Value>
template <class Grid>
class DownPass<Value>::Run {
 public:
  Run(const DownPass& pass, const Grid& grid, const PassTile& tile, const Source& source,
      GridArray<Value>& x)
      : pass_(pass),
        grid_(grid),
        tile_(tile),
        source_(source),
        x_(x),
        domain_(pass.fine_.points()),
        step_count_(pass.smoother_.step_count()),
        steps_(static_cast<std::size_t>(step_count_)),
        first_(Grid::joins_first_steps && step_count_ > 1 ? 2 : 1),
        restricts_(!coarse_points(pass.fine_, tile.own).is_empty()),
        keeps_x_(!x.is_empty()) {
    if (restricts_) residual_ = grown(tile.own, 1, domain_);
    if (restricts_) stages_[steps_] = grown(residual_, 1, domain_);
    if (keeps_x_) stages_[steps_] = hull(tile.points, stages_[steps_]);
    for (std::size_t k = steps_; k > 1; --k)
      if (!stages_[k].is_empty()) stages_[k - 1] = grown(stages_[k], 1, domain_);
    widest_ = source.copy ? hull(tile.points, stages_[1]) : stages_[1];
    keeps_rows_ = tile.points.begin[0] == widest_.begin[0] && tile.points.end[0] == widest_.end[0];
  }

  void run(GridArray<Value>& f_coarse, PassMemory<Value>& memory,
           const std::function<void()>& pause) {
    if (widest_.is_empty()) return;
    Allotment<Value> allotment(memory);
    make_rings(allotment);
    auto restriction = grid_.restriction(pass_.coarse_, restricts_ ? tile_.own : GridBox{},
                                         residual_, f_coarse, allotment, zeros_);
    const GlobalIndex end = std::max(widest_.end[2], residual_.end[2]) + step_count_;
    for (GlobalIndex t = widest_.begin[2]; t < end; ++t) {
      if (!source_.array && has_plane(widest_, t)) fill_f(t);
      perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
        for (std::size_t k = first_; k <= steps_; ++k)
          smooth_plane<Simd>(k, t - static_cast<GlobalIndex>(k) + 1);
        restrict_plane<Simd>(restriction, t - step_count_);
      });
      if (pause) pause();
    }
  }

 private:
  using Plane = typename PlaneRing<Value>::Plane;

  void make_rings(Allotment<Value>& allotment) {
    const int f_planes = source_.array ? 0 : step_count_ + 1;
    const auto ring_size = [&](int planes) {
      return PlaneRing<Value>::element_count(widest_, planes);
    };
    allotment.reserve(zeros_count(widest_));
    if (f_planes > 0) allotment.reserve(ring_size(f_planes));
    for (std::size_t k = 1; k <= steps_; ++k) allotment.reserve(ring_size(3));
    allotment.reserve(Grid::Restriction::element_count(widest_) + 80);
    allotment.begin();
    zeros_ = take_zeros(allotment, widest_);
    if (f_planes > 0)
      f_ring_ =
          PlaneRing<Value>(widest_, domain_, f_planes, allotment.take(ring_size(f_planes)), zeros_);
    for (std::size_t k = 1; k <= steps_; ++k)
      rings_[k] = PlaneRing<Value>(widest_, domain_, 3, allotment.take(ring_size(3)), zeros_);
    // Whole rows are written where they belong; parts of rows are copied there.
    if (keeps_rows_ && keeps_x_) rings_[steps_].keep_in(x_, tile_.points);
    if (keeps_rows_ && source_.copy) f_ring_.keep_in(*source_.copy, tile_.points);
  }

  Plane f_plane(GlobalIndex z) const {
    return source_.array ? plane_of(*source_.array, z, domain_, zeros_) : f_ring_.plane(z);
  }

  void copy_part(GlobalIndex y, GlobalIndex z, const Value* from, GridArray<Value>& to) const {
    const GridBox& part = tile_.points;
    if (!has_plane(part, z) || y < part.begin[1] || y >= part.end[1]) return;
    std::copy(from + part.begin[0], from + part.end[0], to.row(y, z) + part.begin[0]);
  }

  /// Plane z of the residual of the solution.
  void fill_f(GlobalIndex z) {
    const Plane to = f_ring_.plane(z);
    source_.residual->template fill<Value>(widest_, tile_.own, z, to, source_.square);
    for (GlobalIndex y = widest_.begin[1]; y < widest_.end[1]; ++y) {
      Value* const out = to.row(y);
      f_ring_.end_row(out, widest_.begin[0], widest_.end[0]);
      if (source_.copy && !keeps_rows_) copy_part(y, z, out, *source_.copy);
    }
  }

  /// Plane z of x after step k.
  template <class Simd>
  [[gnu::always_inline]] inline void smooth_plane(std::size_t k, GlobalIndex z) {
    const GridBox& stage = stages_[k];
    if (!has_plane(stage, z)) return;
    const SmootherStep& step = pass_.smoother_.step(k - 1);
    const RowRange range = range_in_x(stage, domain_);
    const auto couplings = grid_.plane(z);
    const Plane to = rings_[k].plane(z);
    const Plane f = f_plane(z);
    const PlaneNeighbours<Value> from(
        [&](GlobalIndex at) { return k > first_ ? rings_[k - 1].plane(at) : f_plane(at); }, z);
    const Plane before = k > first_ + 1 ? rings_[k - 2].plane(z) : Plane{};
    RowNeighbours<Value> around = from.around(stage.begin[1]);
    for (GlobalIndex y = stage.begin[1]; y < stage.end[1]; from.advance(around, ++y)) {
      const auto& row = couplings.row(y);
      Value* const out = to.row(y);
      if (k == 1) couplings.fetch(y + fetched_rows, range);
      if (k == first_ && source_.array) fetch_row(f.row(y + fetched_rows), range);
      if (k == 1)
        solver::start_row<Simd>(row, range, static_cast<Value>(step.factor), f.row(y), out);
      else if (k == 2)
        grid_.template first_steps<Simd>(pass_.first_steps_, row, y, z, range, step, f.row(y),
                                         around, out);
      else if (k == 3 && first_ == 2)
        smooth<Simd, Before::start, Value>(row, range, step, f.row(y), around, nullptr, out);
      else
        smooth<Simd, Before::row, Value>(row, range, step, f.row(y), around, before.row(y), out);
      rings_[k].end_row(out, stage.begin[0], stage.end[0]);
      if (k == steps_ && keeps_x_ && !keeps_rows_) copy_part(y, z, out, x_);
    }
  }

  /// The residual of plane z, and what the coarse grid gets of it.
  template <class Simd>
  [[gnu::always_inline]] inline void restrict_plane(typename Grid::Restriction& restriction,
                                                    GlobalIndex z) {
    if (!has_plane(residual_, z)) return;
    const RowRange range = range_in_x(residual_, domain_);
    const auto couplings = grid_.plane(z);
    const Plane f = f_plane(z);
    const PlaneNeighbours<Value> from(rings_[steps_], z);
    restriction.begin_plane(z);
    RowNeighbours<Value> around = from.around(residual_.begin[1]);
    for (GlobalIndex y = residual_.begin[1]; y < residual_.end[1]; from.advance(around, ++y)) {
      const auto& row = couplings.row(y);
      find_residual<Simd>(row, range, f.row(y), around, restriction.row(y));
      restriction.use_row(y);
    }
  }

  const DownPass& pass_;
  const Grid& grid_;
  const PassTile& tile_;
  const Source& source_;
  GridArray<Value>& x_;
  GridBox domain_;
  int step_count_;
  std::size_t steps_;
  std::size_t first_;  // the first stage that has planes
  bool restricts_;
  bool keeps_x_;
  bool keeps_rows_ = false;
  std::array<GridBox, most_steps + 1> stages_;  // points of x after step k
  GridBox residual_;
  GridBox widest_;
  const Value* zeros_ = nullptr;
  PlaneRing<Value> f_ring_;
  std::array<PlaneRing<Value>, most_steps + 1> rings_;
};

template <class Value>
void DownPass<Value>::run(const PassTile& tile, const Source& source, GridArray<Value>& x,
                          GridArray<Value>& f_coarse, PassMemory<Value>& memory,
                          const std::function<void()>& pause) const {
  const auto run_on = [&]<class Grid>(const Grid& grid) {
    Run<Grid>(*this, grid, tile, source, x).run(f_coarse, memory, pause);
  };
  if (couplings_)
    run_on(VaryingGrid<Value>{fine_, *couplings_});
  else
    run_on(ConstantGrid<Value>{fine_});
}

template <class Value>
UpPass<Value>::UpPass(const GridLevel& fine, int steps, const LevelCouplings<Value>* couplings)
    : fine_(fine), smoother_(steps, fine.largest_eigenvalue()), couplings_(couplings) {
  if (repeats_start(steps, couplings))
    first_steps_.emplace(fine, smoother_.step(0), smoother_.step(1));
}

/// One tile of a pass: its stages, and their planes in the cache of the thread that runs it.
template <class Value>
template <class Grid>
class UpPass<Value>::Run {
 public:
  Run(const UpPass& pass, const Grid& grid, const PassTile& tile, const GridArray<Value>& f,
      const GridArray<Value>& x, const Sink& sink)
      : pass_(pass),
        grid_(grid),
        f_(f),
        x_(x),
        sink_(sink),
        domain_(pass.fine_.points()),
        step_count_(pass.smoother_.step_count()),
        steps_(static_cast<std::size_t>(step_count_)) {
    stages_[steps_] = tile.points;
    for (std::size_t k = steps_; k > 0; --k) stages_[k - 1] = grown(stages_[k], 1, domain_);
  }

  void run(const GridArray<Value>& e, PassMemory<Value>& memory,
           const std::function<void()>& pause) {
    const GridBox& widest = stages_[0];
    Allotment<Value> allotment(memory);
    make_rings(allotment);
    auto interpolation = grid_.interpolation(widest, e, allotment);
    last_row_ = take_row(allotment);
    start_row_ = take_row(allotment);
    for (GlobalIndex t = widest.begin[2]; t < widest.end[2] + step_count_; ++t) {
      perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
        add_plane<Simd>(interpolation, t);
        for (std::size_t k = 1; k <= steps_; ++k)
          smooth_plane<Simd>(k, t - static_cast<GlobalIndex>(k));
      });
      if (pause) pause();
    }
  }

 private:
  using Plane = typename PlaneRing<Value>::Plane;

  void make_rings(Allotment<Value>& allotment) {
    const GridBox& widest = stages_[0];
    const std::size_t ring_size = PlaneRing<Value>::element_count(widest, 3);
    allotment.reserve(zeros_count(widest));
    for (std::size_t k = 0; k < steps_; ++k) allotment.reserve(ring_size);
    allotment.reserve(3 * Grid::Interpolation::element_count(widest) + 96);
    allotment.begin();
    zeros_ = take_zeros(allotment, widest);
    for (std::size_t k = 0; k < steps_; ++k)
      rings_[k] = PlaneRing<Value>(widest, domain_, 3, allotment.take(ring_size), zeros_);
  }

  Value* take_row(Allotment<Value>& allotment) const {
    const std::ptrdiff_t stride = PlaneRing<Value>::row_stride(stages_[0].size(0));
    return allotment.take(static_cast<std::size_t>(stride)) + 16 - stages_[0].begin[0];
  }

  Plane f_plane(GlobalIndex z) const { return plane_of(f_, z, domain_, zeros_); }

  /// Plane z of x with the coarse solution added.
  template <class Simd>
  [[gnu::always_inline]] inline void add_plane(typename Grid::Interpolation& interpolation,
                                               GlobalIndex z) {
    const GridBox& widest = stages_[0];
    if (!has_plane(widest, z)) return;
    const RowRange range = range_in_x(widest, domain_);
    const bool has_x = !x_.is_empty();
    const SmootherStep& second = pass_.smoother_.step(1);
    const Plane to = rings_[0].plane(z);
    const PlaneNeighbours<Value> from([&](GlobalIndex at) { return f_plane(at); }, z);
    const auto couplings = grid_.plane(z);
    RowNeighbours<Value> around = from.around(widest.begin[1]);
    for (GlobalIndex y = widest.begin[1]; y < widest.end[1]; from.advance(around, ++y)) {
      Value* const out = to.row(y);
      if (has_x) {
        fetch_row(x_.row(y + fetched_rows, z), range);
      } else {
        fetch_row(f_.row(y + fetched_rows, z + 1), range);
        grid_.template first_steps<Simd>(pass_.first_steps_, couplings.row(y), y, z, range, second,
                                         f_.row(y, z), around, start_row_);
      }
      interpolation.add_row_to(y, z, range, has_x ? x_.row(y, z) : start_row_, out);
      rings_[0].end_row(out, widest.begin[0], widest.end[0]);
    }
  }

  /// Plane z of x after step k, which the last step delivers.
  template <class Simd>
  [[gnu::always_inline]] inline void smooth_plane(std::size_t k, GlobalIndex z) {
    const GridBox& stage = stages_[k];
    if (!has_plane(stage, z)) return;
    const SmootherStep& step = pass_.smoother_.step(k - 1);
    const RowRange range = range_in_x(stage, domain_);
    const auto couplings = grid_.plane(z);
    const PlaneNeighbours<Value> from(rings_[k - 1], z);
    const Plane before = rings_[std::max<std::size_t>(k, 2) - 2].plane(z);
    const Plane to = rings_[std::min(k, steps_ - 1)].plane(z);
    RowNeighbours<Value> around = from.around(stage.begin[1]);
    for (GlobalIndex y = stage.begin[1]; y < stage.end[1]; from.advance(around, ++y)) {
      const auto& row = couplings.row(y);
      if (k == 1) couplings.fetch(y + fetched_rows, range);
      Value* const out = k < steps_ ? to.row(y) : sink_.array ? sink_.array->row(y, z) : last_row_;
      const Value* const f = f_.row(y, z);
      if (k == 1) fetch_row(f_.row(y + fetched_rows, z), range);
      if (k == steps_ && sink_.layout) fetch_result<Value>(sink_, y + fetched_rows, z, range);
      if (k == 1)
        smooth<Simd, Before::same, Value>(row, range, step, f, around, nullptr, out);
      else
        smooth<Simd, Before::row, Value>(row, range, step, f, around, before.row(y), out);
      if (k < steps_)
        rings_[k].end_row(out, stage.begin[0], stage.end[0]);
      else if (!sink_.array)
        deliver<Value>(sink_, y, z, range, out);
      else if (sink_.r_dot_x)
        add_sink_product<Simd, Value>(sink_, y, z, range, out);
    }
  }

  const UpPass& pass_;
  const Grid& grid_;
  const GridArray<Value>& f_;
  const GridArray<Value>& x_;
  const Sink& sink_;
  GridBox domain_;
  int step_count_;
  std::size_t steps_;
  std::array<GridBox, most_steps + 1> stages_;  // points of x after step k
  const Value* zeros_ = nullptr;
  std::array<PlaneRing<Value>, most_steps> rings_;
  Value* last_row_ = nullptr;
  Value* start_row_ = nullptr;
};

template <class Value>
void UpPass<Value>::run(const PassTile& tile, const GridArray<Value>& f, const GridArray<Value>& x,
                        const GridArray<Value>& e, const Sink& sink, PassMemory<Value>& memory,
                        const std::function<void()>& pause) const {
  const auto run_on = [&]<class Grid>(const Grid& grid) {
    Run<Grid>(*this, grid, tile, f, x, sink).run(e, memory, pause);
  };
  if (couplings_)
    run_on(VaryingGrid<Value>{fine_, *couplings_});
  else
    run_on(ConstantGrid<Value>{fine_});
}

template class DownPass<float>;
template class DownPass<double>;
template class UpPass<float>;
template class UpPass<double>;

}  // namespace weft::solver
