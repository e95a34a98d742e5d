#include "solver/multigrid/grid_pass.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include "perfmodel/simd.h"
#include "solver/multigrid/chebyshev.h"
#include "solver/multigrid/plane_ring.h"
#include "solver/multigrid/row_kernels.h"

namespace weft::solver {
namespace {

using spmv::GlobalIndex;
using spmv::GridBox;

constexpr std::size_t most_steps = 4;

/// The coarse points among those of a fine box.
GridBox coarse_points(const GridLevel& fine, GridBox box) {
  for (std::size_t d = 0; d < 3; ++d)
    if (fine.is_coarsened[d]) {
      box.begin[d] /= 2;
      box.end[d] /= 2;
    }
  return box;
}

bool has_plane(const GridBox& box, GlobalIndex z) {
  return !box.is_empty() && z >= box.begin[2] && z < box.end[2];
}

RowRange range_in_x(const GridBox& box, const GridBox& domain) {
  return {box.begin[0], box.end[0], domain.end[0]};
}

/// Hands out the memory of a pass. A first call with no memory counts.
class Allotment {
 public:
  explicit Allotment(PassMemory& memory) : memory_(memory) {}
  void reserve(std::size_t count) { total_ += rounded(count); }
  /// After all reservations.
  void begin() { first_ = memory_.reserve(total_); }
  float* take(std::size_t count) {
    float* const place = first_ + used_;
    used_ += rounded(count);
    return place;
  }

 private:
  static std::size_t rounded(std::size_t count) { return (count + 15) / 16 * 16; }
  PassMemory& memory_;
  float* first_ = nullptr;
  std::size_t total_ = 0;
  std::size_t used_ = 0;
};

/// Rows between the one that is prefetched from memory and the one that is computed. The hardware
/// follows a row, but not the turns that a pass takes between planes of several arrays.
constexpr GlobalIndex fetched_rows = 3;

template <class Value>
[[gnu::always_inline]] inline void fetch_row(const Value* row, RowRange range) {
  constexpr std::ptrdiff_t line = 64 / sizeof(Value);
  for (std::ptrdiff_t i = range.begin; i < range.end; i += line) __builtin_prefetch(row + i, 0, 2);
}

/// A plane and its neighbours.
struct PlaneNeighbours {
  PlaneNeighbours(const PlaneRing& ring, GlobalIndex z)
      : behind(ring.plane(z - 1)), here(ring.plane(z)), ahead(ring.plane(z + 1)) {}
  [[gnu::always_inline]] RowNeighbours around(GlobalIndex y) const {
    return {here.row(y),
            here.row_or_zeros(y - 1),
            here.row_or_zeros(y + 1),
            behind.row_or_zeros(y),
            ahead.row_or_zeros(y),
            behind.row_or_zeros(y - 1),
            behind.row_or_zeros(y + 1),
            ahead.row_or_zeros(y - 1),
            ahead.row_or_zeros(y + 1)};
  }
  PlaneRing::Plane behind;
  PlaneRing::Plane here;
  PlaneRing::Plane ahead;
};

/// The couplings of the rows of a plane.
class PlaneCouplings {
 public:
  PlaneCouplings(const GridLevel& level, GlobalIndex z)
      : last_(level.directions[1].size - 1), inner_row_(level, 0, z), last_row_(level, last_, z) {}
  [[gnu::always_inline]] const StencilRow& row(GlobalIndex y) const {
    return y == last_ ? last_row_ : inner_row_;
  }

 private:
  GlobalIndex last_;
  StencilRow inner_row_;
  StencilRow last_row_;
};

template <RowKind kind>
using KindConstant = std::integral_constant<RowKind, kind>;

/// Calls use(the row's kind, known to the compiler).
template <class Use>
[[gnu::always_inline]] inline void with_kind(const StencilRow& row, const Use& use) {
  switch (row.kind) {
    case RowKind::uniform:
      return use(KindConstant<RowKind::uniform>{});
    case RowKind::weighted:
      return use(KindConstant<RowKind::weighted>{});
    case RowKind::corners:
      return use(KindConstant<RowKind::corners>{});
  }
}

template <bool has_before>
[[gnu::always_inline]] inline void smooth(const StencilRow& row, RowRange range,
                                          const SmootherStep& step, const float* f,
                                          const RowNeighbours& x, const float* before, float* out) {
  const auto momentum = static_cast<float>(step.momentum);
  const auto factor = static_cast<float>(step.factor);
  with_kind(row, [&](auto kind) __attribute__((always_inline)) {
    smooth_row<kind(), has_before>(row, range, momentum, factor, f, x, before, out);
  });
}

/// Zeros for rows outside of the grid, indexed by x, at least `domain`'s and one more on each side.
const float* take_zeros(Allotment& allotment, const GridBox& box) {
  const auto count = static_cast<std::size_t>(box.size(0) + 32);
  float* const zeros = allotment.take(count);
  std::fill_n(zeros, count, 0.0F);
  return zeros + 16 - box.begin[0];
}

std::size_t zeros_count(const GridBox& box) { return static_cast<std::size_t>(box.size(0) + 32); }

/// The residual of a level, row by row, restricted to the coarse one.
class Restriction {
 public:
  Restriction(const GridLevel& fine, const GridLevel& coarse, const GridBox& own,
              const GridBox& rows, GridArray& out, Allotment& allotment, const float* zeros)
      : fine_(fine),
        own_(coarse_points(fine, own)),
        rows_(rows),
        weights_x_(fine.directions[0]),
        weights_y_(fine.directions[1]),
        range_(own_.begin[0], own_.end[0], coarse.directions[0].size),
        out_(out),
        scale_(1 / coarse.scale),
        zeros_(zeros) {
    const std::ptrdiff_t stride = PlaneRing::row_stride(rows.size(0));
    for (float*& r : r_) {
      r = allotment.take(static_cast<std::size_t>(stride)) + 16 - rows.begin[0];
    }
    combined_ = allotment.take(static_cast<std::size_t>(stride)) + 16 - rows.begin[0];
  }
  static std::size_t element_count(const GridBox& rows) {
    return 4 * static_cast<std::size_t>(PlaneRing::row_stride(rows.size(0)));
  }

  /// Where the residual of row y goes.
  float* row(GlobalIndex y) { return r_[static_cast<std::size_t>(y % 3)]; }

  /// Before the rows of plane `z`.
  void begin_plane(GlobalIndex z) {
    const GridDirection& direction = fine_.directions[2];
    const auto is_own = [&](GlobalIndex coarse) {
      return coarse >= own_.begin[2] && coarse < own_.end[2];
    };
    target_count_ = 0;
    const auto add_target = [&](GlobalIndex coarse, double weight, bool adds) {
      if (is_own(coarse))
        targets_[target_count_++] = {coarse, static_cast<float>(weight * scale_), adds};
    };
    if (!fine_.is_coarsened[2]) {
      add_target(z, 1, false);
    } else if (z % 2 != 0) {
      add_target(z / 2, direction.restriction(z / 2)[1], true);
    } else {
      if (z > 0) add_target(z / 2 - 1, direction.restriction(z / 2 - 1)[2], true);
      if (z / 2 < direction.size / 2) add_target(z / 2, direction.restriction(z / 2)[0], false);
    }
  }

  /// Uses the row y of the plane, after those below it.
  [[gnu::always_inline]] void use_row(GlobalIndex y) {
    if (target_count_ == 0) return;
    const GlobalIndex size = fine_.directions[1].size;
    if (rows_.end[0] == fine_.directions[0].size) row(y)[rows_.end[0]] = 0;
    if (!fine_.is_coarsened[1]) {
      if (y >= own_.begin[1] && y < own_.end[1]) restrict_row_to(y, row(y));
      return;
    }
    const bool is_above = y % 2 == 0;
    if (!is_above && y != size - 1) return;
    const GlobalIndex coarse = is_above ? y / 2 - 1 : y / 2;
    if (coarse < own_.begin[1] || coarse >= own_.end[1]) return;
    const float* const rows[3] = {row(2 * coarse), row(2 * coarse + 1), is_above ? row(y) : zeros_};
    combine_rows(rows, coarse == size / 2 - 1 ? weights_y_.last : weights_y_.inner, rows_.begin[0],
                 rows_.end[0] + (rows_.end[0] == fine_.directions[0].size ? 1 : 0), combined_);
    restrict_row_to(coarse, combined_);
  }

 private:
  /// Part of a coarse plane's values.
  struct Target {
    GlobalIndex z = 0;
    float weight = 0;
    bool adds = false;
  };

  /// `r`: restricted along y to row `y` of the coarse grid.
  [[gnu::always_inline]] void restrict_row_to(GlobalIndex y, const float* r) {
    for (std::size_t i = 0; i < target_count_; ++i) {
      const Target& target = targets_[i];
      if (target.adds)
        along_x<true>(y, target.z, target.weight, r);
      else
        along_x<false>(y, target.z, target.weight, r);
    }
  }

  template <bool adds>
  [[gnu::always_inline]] void along_x(GlobalIndex y, GlobalIndex z, float weight, const float* r) {
    if (fine_.is_coarsened[0])
      restrict_row<adds>(weights_x_, range_, weight, r, out_.row(y, z));
    else
      copy_row<adds>(range_, weight, r, out_.row(y, z));
  }

  const GridLevel& fine_;
  GridBox own_;  // coarse points
  GridBox rows_;  // of the residual
  RestrictionWeights weights_x_;
  RestrictionWeights weights_y_;
  RowRange range_;
  GridArray& out_;
  double scale_;
  const float* zeros_;
  std::array<Target, 2> targets_{};
  std::size_t target_count_ = 0;
  std::array<float*, 3> r_{};
  float* combined_ = nullptr;
};

/// Rows of the coarse solution, interpolated along y and z.
class Interpolation {
 public:
  Interpolation(const GridLevel& fine, const GridBox& rows, const GridArray& e,
                Allotment& allotment)
      : fine_(fine),
        e_(e),
        last_weight_(
            static_cast<float>(fine.directions[0].interpolation(fine.directions[0].size - 1)[0])) {
    begin_ = fine.is_coarsened[0] ? rows.begin[0] / 2 - 1 : rows.begin[0];
    end_ = fine.is_coarsened[0] ? rows.end[0] / 2 + 1 : rows.end[0];
    combined_ =
        allotment.take(static_cast<std::size_t>(PlaneRing::row_stride(rows.size(0)))) + 16 - begin_;
  }
  static std::size_t element_count(const GridBox& rows) {
    return static_cast<std::size_t>(PlaneRing::row_stride(rows.size(0)));
  }

  /// out = x + interpolated row (y, z).
  [[gnu::always_inline]] void add_row_to(GlobalIndex y, GlobalIndex z, RowRange range,
                                         const float* x, float* out) {
    const float* const e = combine(terms(1, y), terms(2, z));
    if (fine_.is_coarsened[0])
      add_interpolated_row(range, last_weight_, e, x, out);
    else
      add_row(range, e, x, out);
  }

 private:
  struct Terms {
    GlobalIndex first = 0;
    int count = 1;
    std::array<float, 2> weights{1, 0};
  };
  Terms terms(std::size_t direction, GlobalIndex i) const {
    if (!fine_.is_coarsened[direction]) return {i, 1, {1, 0}};
    if (i % 2 != 0) return {i / 2, 1, {1, 0}};
    const auto weights = fine_.directions[direction].interpolation(i);
    return {i / 2 - 1, 2, {static_cast<float>(weights[0]), static_cast<float>(weights[1])}};
  }
  [[gnu::always_inline]] const float* combine(const Terms& y, const Terms& z) {
    if (y.count == 1 && z.count == 1) return e_.row(y.first, z.first);
    const float* const a = e_.row(y.first, z.first);
    if (y.count == 2 && z.count == 2) {
      const float* const b = e_.row(y.first + 1, z.first);
      const float* const c = e_.row(y.first, z.first + 1);
      const float* const d = e_.row(y.first + 1, z.first + 1);
#pragma omp simd
      for (std::ptrdiff_t i = begin_; i < end_; ++i)
        combined_[i] = z.weights[0] * (y.weights[0] * a[i] + y.weights[1] * b[i]) +
                       z.weights[1] * (y.weights[0] * c[i] + y.weights[1] * d[i]);
      return combined_;
    }
    const auto& weights = y.count == 2 ? y.weights : z.weights;
    const float* const b =
        y.count == 2 ? e_.row(y.first + 1, z.first) : e_.row(y.first, z.first + 1);
#pragma omp simd
    for (std::ptrdiff_t i = begin_; i < end_; ++i)
      combined_[i] = weights[0] * a[i] + weights[1] * b[i];
    return combined_;
  }

  const GridLevel& fine_;
  const GridArray& e_;
  float last_weight_;
  std::ptrdiff_t begin_ = 0;
  std::ptrdiff_t end_ = 0;
  float* combined_ = nullptr;
};

/// A row of the result.
[[gnu::always_inline]] inline void deliver(const UpPass::Sink& sink, GlobalIndex y, GlobalIndex z,
                                           RowRange range, const float* row) {
  double* const values = sink.values + sink.layout->index(range.begin, y, z) - range.begin;
  if (sink.direction)
    update_row(range, static_cast<float>(sink.old), static_cast<float>(sink.fresh), row,
               sink.direction->row(y, z), values);
  else
    widen_row(range, row, values);
}

}  // namespace

DownPass::DownPass(const GridLevel& fine, const GridLevel& coarse, int steps)
    : fine_(fine), coarse_(coarse), steps_(steps) {}

void DownPass::run(const PassTile& tile, const Source& source, GridArray& x, GridArray& f_coarse,
                   PassMemory& memory, const std::function<void()>& pause) const {
  const GridBox domain = fine_.points();
  const auto steps = static_cast<std::size_t>(steps_);
  const bool restricts = !coarse_points(fine_, tile.own).is_empty();
  const GridBox residual = restricts ? grown(tile.own, 1, domain) : GridBox{};
  std::array<GridBox, most_steps + 1> stages;  // points of x after step k
  stages[steps] = restricts ? hull(tile.points, grown(residual, 1, domain)) : tile.points;
  for (std::size_t k = steps; k > 1; --k) stages[k - 1] = grown(stages[k], 1, domain);
  const GridBox& widest = stages[1];

  Allotment allotment(memory);
  const int f_planes = source.array ? 0 : steps_ + 1;
  allotment.reserve(zeros_count(widest));
  if (f_planes > 0) allotment.reserve(PlaneRing::element_count(widest, f_planes));
  for (std::size_t k = 1; k <= steps; ++k) allotment.reserve(PlaneRing::element_count(widest, 3));
  allotment.reserve(Restriction::element_count(widest) + 64);
  allotment.begin();
  const float* const zeros = take_zeros(allotment, widest);
  PlaneRing f_ring;
  if (f_planes > 0)
    f_ring = PlaneRing(widest, domain, f_planes,
                       allotment.take(PlaneRing::element_count(widest, f_planes)), zeros);
  std::array<PlaneRing, most_steps + 1> rings;
  for (std::size_t k = 1; k <= steps; ++k)
    rings[k] =
        PlaneRing(widest, domain, 3, allotment.take(PlaneRing::element_count(widest, 3)), zeros);
  Restriction restriction(fine_, coarse_, restricts ? tile.own : GridBox{}, residual, f_coarse,
                          allotment, zeros);
  const auto f_plane = [&](GlobalIndex z) {
    if (!source.array) return f_ring.plane(z);
    PlaneRing::Plane plane;
    plane.first = const_cast<float*>(source.array->row(0, z));
    plane.stride = source.array->layout().row_stride();
    return plane;
  };
  // Whole rows are written where they belong; parts of rows are copied there.
  const bool keeps_rows =
      tile.points.begin[0] == widest.begin[0] && tile.points.end[0] == widest.end[0];
  if (keeps_rows) {
    rings[steps].keep_in(x, tile.points);
    if (source.copy) f_ring.keep_in(*source.copy, tile.points);
  }
  const auto copy_part = [&](GlobalIndex y, GlobalIndex z, const float* from, GridArray& to) {
    if (!has_plane(tile.points, z) || y < tile.points.begin[1] || y >= tile.points.end[1]) return;
    std::copy(from + tile.points.begin[0], from + tile.points.end[0],
              to.row(y, z) + tile.points.begin[0]);
  };

  const GlobalIndex end = std::max(widest.end[2] + steps_, residual.end[2] + steps_);
  for (GlobalIndex t = widest.begin[2]; t < end; ++t) {
    if (!source.array && has_plane(widest, t)) {
      GridBox plane = widest;
      plane.begin[2] = t;
      plane.end[2] = t + 1;
      source.residual->fill(plane, tile.own, f_ring, source.square);
      if (source.copy && !keeps_rows)
        for (GlobalIndex y = widest.begin[1]; y < widest.end[1]; ++y)
          copy_part(y, t, f_ring.plane(t).row(y), *source.copy);
    }
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
      for (std::size_t k = 1; k <= steps; ++k) {
        const GridBox& stage = stages[k];
        const GlobalIndex z = t - static_cast<GlobalIndex>(k) + 1;
        if (!has_plane(stage, z)) continue;
        const SmootherStep step(static_cast<int>(k) - 1, fine_.largest_eigenvalue());
        const RowRange range = range_in_x(stage, domain);
        const PlaneCouplings couplings(fine_, z);
        const PlaneRing::Plane to = rings[k].plane(z);
        const PlaneRing::Plane f = f_plane(z);
        const PlaneNeighbours from(rings[std::max<std::size_t>(k, 2) - 1], z);
        const PlaneRing::Plane before = rings[std::max<std::size_t>(k, 3) - 2].plane(z);
        for (GlobalIndex y = stage.begin[1]; y < stage.end[1]; ++y) {
          const StencilRow& row = couplings.row(y);
          if (k == 1 && source.array) fetch_row(f.row(y + fetched_rows), range);
          float* const out = to.row(y);
          if (k == 1)
            start_row(row, range, static_cast<float>(step.factor), f.row(y), out);
          else if (k == 2)
            // x₀ = 0, so that x₁ - x₀ = x₁: counted as the row before is zero.
            smooth<true>(row, range, step, f.row(y), from.around(y), zeros, out);
          else
            smooth<true>(row, range, step, f.row(y), from.around(y), before.row(y), out);
          rings[k].end_row(out, stage.begin[0], stage.end[0]);
          if (k == steps && !keeps_rows) copy_part(y, z, out, x);
        }
      }
      const GlobalIndex z = t - steps_;
      if (!has_plane(residual, z)) return;
      const RowRange range = range_in_x(residual, domain);
      const PlaneCouplings couplings(fine_, z);
      const PlaneRing::Plane f = f_plane(z);
      const PlaneNeighbours from(rings[steps], z);
      restriction.begin_plane(z);
      for (GlobalIndex y = residual.begin[1]; y < residual.end[1]; ++y) {
        const StencilRow& row = couplings.row(y);
        with_kind(row, [&](auto kind) __attribute__((always_inline)) {
          residual_row<kind()>(row, range, f.row(y), from.around(y), restriction.row(y));
        });
        restriction.use_row(y);
      }
    });
    if (pause) pause();
  }
}

UpPass::UpPass(const GridLevel& fine, int steps) : fine_(fine), steps_(steps) {}

void UpPass::run(const PassTile& tile, const GridArray& f, const GridArray& x, const GridArray& e,
                 const Sink& sink, PassMemory& memory, const std::function<void()>& pause) const {
  const GridBox domain = fine_.points();
  const auto steps = static_cast<std::size_t>(steps_);
  std::array<GridBox, most_steps + 1> stages;  // points of x after step k
  stages[steps] = tile.points;
  for (std::size_t k = steps; k > 0; --k) stages[k - 1] = grown(stages[k], 1, domain);
  const GridBox& widest = stages[0];

  Allotment allotment(memory);
  allotment.reserve(zeros_count(widest));
  for (std::size_t k = 0; k < steps; ++k) allotment.reserve(PlaneRing::element_count(widest, 3));
  allotment.reserve(2 * Interpolation::element_count(widest) + 64);
  allotment.begin();
  const float* const zeros = take_zeros(allotment, widest);
  std::array<PlaneRing, most_steps> rings;
  for (std::size_t k = 0; k < steps; ++k)
    rings[k] =
        PlaneRing(widest, domain, 3, allotment.take(PlaneRing::element_count(widest, 3)), zeros);
  Interpolation interpolation(fine_, widest, e, allotment);
  float* const last_row =
      allotment.take(static_cast<std::size_t>(PlaneRing::row_stride(widest.size(0)))) + 16 -
      widest.begin[0];

  for (GlobalIndex t = widest.begin[2]; t < widest.end[2] + steps_; ++t) {
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
      if (has_plane(widest, t)) {
        const PlaneRing::Plane to = rings[0].plane(t);
        for (GlobalIndex y = widest.begin[1]; y < widest.end[1]; ++y) {
          fetch_row(x.row(y + fetched_rows, t), range_in_x(widest, domain));
          float* const out = to.row(y);
          interpolation.add_row_to(y, t, range_in_x(widest, domain), x.row(y, t), out);
          rings[0].end_row(out, widest.begin[0], widest.end[0]);
        }
      }
      for (std::size_t k = 1; k <= steps; ++k) {
        const GridBox& stage = stages[k];
        const GlobalIndex z = t - static_cast<GlobalIndex>(k);
        if (!has_plane(stage, z)) continue;
        const SmootherStep step(static_cast<int>(k) - 1, fine_.largest_eigenvalue());
        const RowRange range = range_in_x(stage, domain);
        const PlaneCouplings couplings(fine_, z);
        const PlaneNeighbours from(rings[k - 1], z);
        const PlaneRing::Plane before = rings[std::max<std::size_t>(k, 2) - 2].plane(z);
        const PlaneRing::Plane to = rings[std::min(k, steps - 1)].plane(z);
        for (GlobalIndex y = stage.begin[1]; y < stage.end[1]; ++y) {
          const StencilRow& row = couplings.row(y);
          if (k == 1) fetch_row(f.row(y + fetched_rows, z), range);
          if (k == steps && sink.values) {
            const std::size_t ahead = sink.layout->index(range.begin, y + fetched_rows, z);
            fetch_row(sink.values + ahead - range.begin, range);
            if (sink.direction) fetch_row(sink.direction->row(y + fetched_rows, z), range);
          }
          float* const out = k < steps ? to.row(y) : sink.array ? sink.array->row(y, z) : last_row;
          if (k == 1)
            smooth<false>(row, range, step, f.row(y, z), from.around(y), nullptr, out);
          else
            smooth<true>(row, range, step, f.row(y, z), from.around(y), before.row(y), out);
          if (k < steps)
            rings[k].end_row(out, stage.begin[0], stage.end[0]);
          else if (!sink.array)
            deliver(sink, y, z, range, out);
        }
      }
    });
    if (pause) pause();
  }
}

}  // namespace weft::solver
