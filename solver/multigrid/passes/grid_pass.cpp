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

/// Prefetches what `deliver` updates.
template <class Value>
[[gnu::always_inline]] inline void fetch_result(const typename UpPass<Value>::Sink& sink,
                                                GlobalIndex y, GlobalIndex z, RowRange range) {
  fetch_row(sink.values + sink.layout->index(range.begin, y, z) - range.begin, range);
  if (sink.direction) fetch_row(sink.direction->row(y, z), range);
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

template <class Value>
void DownPass<Value>::run(const PassTile& tile, const Source& source, GridArray<Value>& x,
                          GridArray<Value>& f_coarse, PassMemory<Value>& memory,
                          const std::function<void()>& pause) const {
  if (couplings_)
    run_on(VaryingGrid<Value>{fine_, *couplings_}, tile, source, x, f_coarse, memory, pause);
  else
    run_on(ConstantGrid<Value>{fine_}, tile, source, x, f_coarse, memory, pause);
}

template <class Value>
template <class Grid>
void DownPass<Value>::run_on(const Grid& grid, const PassTile& tile, const Source& source,
                             GridArray<Value>& x, GridArray<Value>& f_coarse,
                             PassMemory<Value>& memory, const std::function<void()>& pause) const {
  const GridBox domain = fine_.points();
  const int step_count = smoother_.step_count();
  const auto steps = static_cast<std::size_t>(step_count);
  const bool restricts = !coarse_points(fine_, tile.own).is_empty();
  const GridBox residual = restricts ? grown(tile.own, 1, domain) : GridBox{};
  std::array<GridBox, most_steps + 1> stages;  // points of x after step k
  const bool keeps_x = !x.is_empty();
  if (restricts) stages[steps] = grown(residual, 1, domain);
  if (keeps_x) stages[steps] = hull(tile.points, stages[steps]);
  for (std::size_t k = steps; k > 1; --k)
    if (!stages[k].is_empty()) stages[k - 1] = grown(stages[k], 1, domain);
  const GridBox widest = source.copy ? hull(tile.points, stages[1]) : stages[1];
  if (widest.is_empty()) return;

  Allotment<Value> allotment(memory);
  const int f_planes = source.array ? 0 : step_count + 1;
  allotment.reserve(zeros_count(widest));
  if (f_planes > 0) allotment.reserve(PlaneRing<Value>::element_count(widest, f_planes));
  for (std::size_t k = 1; k <= steps; ++k)
    allotment.reserve(PlaneRing<Value>::element_count(widest, 3));
  allotment.reserve(Grid::Restriction::element_count(widest) + 80);
  allotment.begin();
  const Value* const zeros = take_zeros(allotment, widest);
  PlaneRing<Value> f_ring;
  if (f_planes > 0)
    f_ring =
        PlaneRing<Value>(widest, domain, f_planes,
                         allotment.take(PlaneRing<Value>::element_count(widest, f_planes)), zeros);
  std::array<PlaneRing<Value>, most_steps + 1> rings;
  for (std::size_t k = 1; k <= steps; ++k)
    rings[k] = PlaneRing<Value>(widest, domain, 3,
                                allotment.take(PlaneRing<Value>::element_count(widest, 3)), zeros);
  auto restriction = grid.restriction(coarse_, restricts ? tile.own : GridBox{}, residual, f_coarse,
                                      allotment, zeros);
  const auto f_plane = [&](GlobalIndex z) {
    return source.array ? plane_of(*source.array, z, domain, zeros) : f_ring.plane(z);
  };
  // Whole rows are written where they belong; parts of rows are copied there.
  const bool keeps_rows =
      tile.points.begin[0] == widest.begin[0] && tile.points.end[0] == widest.end[0];
  if (keeps_rows) {
    if (keeps_x) rings[steps].keep_in(x, tile.points);
    if (source.copy) f_ring.keep_in(*source.copy, tile.points);
  }
  const auto copy_part = [&](GlobalIndex y, GlobalIndex z, const Value* from,
                             GridArray<Value>& to) {
    if (!has_plane(tile.points, z) || y < tile.points.begin[1] || y >= tile.points.end[1]) return;
    std::copy(from + tile.points.begin[0], from + tile.points.end[0],
              to.row(y, z) + tile.points.begin[0]);
  };

  // The first stage that has planes.
  const std::size_t first = Grid::joins_first_steps && steps > 1 ? 2 : 1;
  const GlobalIndex end = std::max(widest.end[2] + step_count, residual.end[2] + step_count);
  for (GlobalIndex t = widest.begin[2]; t < end; ++t) {
    if (!source.array && has_plane(widest, t)) {
      const typename PlaneRing<Value>::Plane to = f_ring.plane(t);
      for (GlobalIndex y = widest.begin[1]; y < widest.end[1]; ++y) {
        Value* const out = to.row(y);
        source.residual->fill(widest, tile.own, y, t, out, source.square);
        f_ring.end_row(out, widest.begin[0], widest.end[0]);
        if (source.copy && !keeps_rows) copy_part(y, t, out, *source.copy);
      }
    }
    perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
      for (std::size_t k = first; k <= steps; ++k) {
        const GridBox& stage = stages[k];
        const GlobalIndex z = t - static_cast<GlobalIndex>(k) + 1;
        if (!has_plane(stage, z)) continue;
        const SmootherStep& step = smoother_.step(k - 1);
        const RowRange range = range_in_x(stage, domain);
        const auto couplings = grid.plane(z);
        const typename PlaneRing<Value>::Plane to = rings[k].plane(z);
        const typename PlaneRing<Value>::Plane f = f_plane(z);
        const PlaneNeighbours<Value> from(
            [&](GlobalIndex at) { return k > first ? rings[k - 1].plane(at) : f_plane(at); }, z);
        const typename PlaneRing<Value>::Plane before =
            k > first + 1 ? rings[k - 2].plane(z) : typename PlaneRing<Value>::Plane{};
        for (GlobalIndex y = stage.begin[1]; y < stage.end[1]; ++y) {
          const auto& row = couplings.row(y);
          Value* const out = to.row(y);
          if (k == 1) couplings.fetch(y + fetched_rows, range);
          if (k == first && source.array) fetch_row(f.row(y + fetched_rows), range);
          if (k == 1)
            solver::start_row<Simd>(row, range, static_cast<Value>(step.factor), f.row(y), out);
          else if (k == 2)
            grid.template first_steps<Simd>(first_steps_, row, y, z, range, step, f.row(y),
                                            from.around(y), out);
          else if (k == 3 && first == 2)
            smooth<Simd, Before::start, Value>(row, range, step, f.row(y), from.around(y), nullptr,
                                               out);
          else
            smooth<Simd, Before::row, Value>(row, range, step, f.row(y), from.around(y),
                                             before.row(y), out);
          rings[k].end_row(out, stage.begin[0], stage.end[0]);
          if (k == steps && keeps_x && !keeps_rows) copy_part(y, z, out, x);
        }
      }
      const GlobalIndex z = t - step_count;
      if (!has_plane(residual, z)) return;
      const RowRange range = range_in_x(residual, domain);
      const auto couplings = grid.plane(z);
      const typename PlaneRing<Value>::Plane f = f_plane(z);
      const PlaneNeighbours<Value> from(rings[steps], z);
      restriction.begin_plane(z);
      for (GlobalIndex y = residual.begin[1]; y < residual.end[1]; ++y) {
        const auto& row = couplings.row(y);
        find_residual<Simd>(row, range, f.row(y), from.around(y), restriction.row(y));
        restriction.use_row(y);
      }
    });
    if (pause) pause();
  }
}

template <class Value>
UpPass<Value>::UpPass(const GridLevel& fine, int steps, const LevelCouplings<Value>* couplings)
    : fine_(fine), smoother_(steps, fine.largest_eigenvalue()), couplings_(couplings) {
  if (repeats_start(steps, couplings))
    first_steps_.emplace(fine, smoother_.step(0), smoother_.step(1));
}

template <class Value>
void UpPass<Value>::run(const PassTile& tile, const GridArray<Value>& f, const GridArray<Value>& x,
                        const GridArray<Value>& e, const Sink& sink, PassMemory<Value>& memory,
                        const std::function<void()>& pause) const {
  if (couplings_)
    run_on(VaryingGrid<Value>{fine_, *couplings_}, tile, f, x, e, sink, memory, pause);
  else
    run_on(ConstantGrid<Value>{fine_}, tile, f, x, e, sink, memory, pause);
}

template <class Value>
template <class Grid>
void UpPass<Value>::run_on(const Grid& grid, const PassTile& tile, const GridArray<Value>& f,
                           const GridArray<Value>& x, const GridArray<Value>& e, const Sink& sink,
                           PassMemory<Value>& memory, const std::function<void()>& pause) const {
  const GridBox domain = fine_.points();
  const int step_count = smoother_.step_count();
  const auto steps = static_cast<std::size_t>(step_count);
  std::array<GridBox, most_steps + 1> stages;  // points of x after step k
  stages[steps] = tile.points;
  for (std::size_t k = steps; k > 0; --k) stages[k - 1] = grown(stages[k], 1, domain);
  const GridBox& widest = stages[0];

  Allotment<Value> allotment(memory);
  allotment.reserve(zeros_count(widest));
  for (std::size_t k = 0; k < steps; ++k)
    allotment.reserve(PlaneRing<Value>::element_count(widest, 3));
  allotment.reserve(3 * Grid::Interpolation::element_count(widest) + 96);
  allotment.begin();
  const Value* const zeros = take_zeros(allotment, widest);
  std::array<PlaneRing<Value>, most_steps> rings;
  for (std::size_t k = 0; k < steps; ++k)
    rings[k] = PlaneRing<Value>(widest, domain, 3,
                                allotment.take(PlaneRing<Value>::element_count(widest, 3)), zeros);
  auto interpolation = grid.interpolation(widest, e, allotment);
  Value* const last_row =
      allotment.take(static_cast<std::size_t>(PlaneRing<Value>::row_stride(widest.size(0)))) + 16 -
      widest.begin[0];

  Value* const start_row =
      allotment.take(static_cast<std::size_t>(PlaneRing<Value>::row_stride(widest.size(0)))) + 16 -
      widest.begin[0];
  const bool has_x = !x.is_empty();
  const auto f_plane = [&](GlobalIndex z) { return plane_of(f, z, domain, zeros); };
  const SmootherStep& second = smoother_.step(1);

  const RowRange widest_range = range_in_x(widest, domain);
  for (GlobalIndex t = widest.begin[2]; t < widest.end[2] + step_count; ++t) {
    perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
      if (has_plane(widest, t)) {
        const typename PlaneRing<Value>::Plane to = rings[0].plane(t);
        const PlaneNeighbours<Value> around(f_plane, t);
        const auto couplings = grid.plane(t);
        for (GlobalIndex y = widest.begin[1]; y < widest.end[1]; ++y) {
          Value* const out = to.row(y);
          if (has_x) {
            fetch_row(x.row(y + fetched_rows, t), widest_range);
          } else {
            fetch_row(f.row(y + fetched_rows, t + 1), widest_range);
            grid.template first_steps<Simd>(first_steps_, couplings.row(y), y, t, widest_range,
                                            second, f.row(y, t), around.around(y), start_row);
          }
          interpolation.add_row_to(y, t, widest_range, has_x ? x.row(y, t) : start_row, out);
          rings[0].end_row(out, widest.begin[0], widest.end[0]);
        }
      }
      for (std::size_t k = 1; k <= steps; ++k) {
        const GridBox& stage = stages[k];
        const GlobalIndex z = t - static_cast<GlobalIndex>(k);
        if (!has_plane(stage, z)) continue;
        const SmootherStep& step = smoother_.step(k - 1);
        const RowRange range = range_in_x(stage, domain);
        const auto couplings = grid.plane(z);
        const PlaneNeighbours<Value> from(rings[k - 1], z);
        const typename PlaneRing<Value>::Plane before =
            rings[std::max<std::size_t>(k, 2) - 2].plane(z);
        const typename PlaneRing<Value>::Plane to = rings[std::min(k, steps - 1)].plane(z);
        for (GlobalIndex y = stage.begin[1]; y < stage.end[1]; ++y) {
          const auto& row = couplings.row(y);
          if (k == 1) couplings.fetch(y + fetched_rows, range);
          Value* const out = k < steps ? to.row(y) : sink.array ? sink.array->row(y, z) : last_row;
          if (k == 1) fetch_row(f.row(y + fetched_rows, z), range);
          if (k == steps && sink.values) fetch_result<Value>(sink, y + fetched_rows, z, range);
          if (k == 1)
            smooth<Simd, Before::same, Value>(row, range, step, f.row(y, z), from.around(y),
                                              nullptr, out);
          else
            smooth<Simd, Before::row, Value>(row, range, step, f.row(y, z), from.around(y),
                                             before.row(y), out);
          if (k < steps)
            rings[k].end_row(out, stage.begin[0], stage.end[0]);
          else if (!sink.array)
            deliver<Value>(sink, y, z, range, out);
        }
      }
    });
    if (pause) pause();
  }
}

template class DownPass<float>;
template class DownPass<double>;
template class UpPass<float>;
template class UpPass<double>;

}  // namespace weft::solver
