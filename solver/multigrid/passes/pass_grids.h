#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>

#include "solver/multigrid/grids/chebyshev.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/grids/level_couplings.h"
#include "solver/multigrid/passes/first_steps.h"
#include "solver/multigrid/passes/interpolation.h"
#include "solver/multigrid/passes/plane_ring.h"
#include "solver/multigrid/passes/restriction.h"
#include "solver/multigrid/passes/row_kernels.h"
#include "solver/multigrid/passes/varying_interpolation.h"
#include "solver/multigrid/passes/varying_restriction.h"
#include "solver/multigrid/passes/varying_row.h"

/// What the two passes do on a row, for couplings that are the same at all points and for those
/// that vary: ConstantGrid and VaryingGrid have the same members.
namespace weft::solver {

/// Prefetches a row of values from memory.
template <class Value>
[[gnu::always_inline]] inline void fetch_row(const Value* row, RowRange range) {
  constexpr std::ptrdiff_t line = 64 / sizeof(Value);
  for (std::ptrdiff_t i = range.begin; i < range.end; i += line) __builtin_prefetch(row + i, 0, 3);
}

/// A plane and its neighbours.
template <class Value>
struct PlaneNeighbours {
  /// plane_at(z): a plane.
  template <class PlaneAt>
  PlaneNeighbours(const PlaneAt& plane_at, spmv::GlobalIndex z)
      : behind(plane_at(z - 1)), here(plane_at(z)), ahead(plane_at(z + 1)) {}
  PlaneNeighbours(const PlaneRing<Value>& ring, spmv::GlobalIndex z)
      : PlaneNeighbours([&](spmv::GlobalIndex at) { return ring.plane(at); }, z) {}
  [[gnu::always_inline]] RowNeighbours<Value> around(spmv::GlobalIndex y) const {
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
  /// Makes around(y) of around(y - 1).
  [[gnu::always_inline]] void advance(RowNeighbours<Value>& rows, spmv::GlobalIndex y) const {
    rows = {rows.above,
            rows.here,
            here.row_or_zeros(y + 1),
            rows.above_behind,
            rows.above_ahead,
            rows.behind,
            behind.row_or_zeros(y + 1),
            rows.ahead,
            ahead.row_or_zeros(y + 1)};
  }
  typename PlaneRing<Value>::Plane behind;
  typename PlaneRing<Value>::Plane here;
  typename PlaneRing<Value>::Plane ahead;
};

/// The couplings of the rows of a plane.
template <class Value>
class PlaneCouplings {
 public:
  PlaneCouplings(const GridLevel& level, spmv::GlobalIndex z)
      : last_(level.directions[1].size - 1), inner_row_(level, 0, z), last_row_(level, last_, z) {}
  [[gnu::always_inline]] const StencilRow<Value>& row(spmv::GlobalIndex y) const {
    return y == last_ ? last_row_ : inner_row_;
  }
  [[gnu::always_inline]] static void fetch(spmv::GlobalIndex /*y*/, RowRange /*range*/) {}

 private:
  spmv::GlobalIndex last_;
  StencilRow<Value> inner_row_;
  StencilRow<Value> last_row_;
};

template <RowKind kind>
using KindConstant = std::integral_constant<RowKind, kind>;

/// Calls use(the row's kind, known to the compiler).
template <class Row, class Use>
[[gnu::always_inline]] inline void with_kind(const Row& row, const Use& use) {
  switch (row.kind) {
    case RowKind::uniform:
      return use(KindConstant<RowKind::uniform>{});
    case RowKind::weighted:
      return use(KindConstant<RowKind::weighted>{});
    case RowKind::corners:
      return use(KindConstant<RowKind::corners>{});
  }
}

template <class Simd, Before has, class Value>
[[gnu::always_inline]] inline void smooth(const StencilRow<Value>& row, RowRange range,
                                          const SmootherStep& step, const Value* f,
                                          const RowNeighbours<Value>& x, const Value* before,
                                          Value* out) {
  const auto momentum = static_cast<Value>(step.momentum);
  const auto factor = static_cast<Value>(step.factor);
  const auto start_factor = static_cast<Value>(step.start_factor);
  with_kind(row, [&](auto kind) __attribute__((always_inline)) {
    smooth_row<Simd, kind(), has>(row, range, momentum, factor, start_factor, f, x, before, out);
  });
}

template <class Simd, Before has, class Value>
[[gnu::always_inline]] inline void smooth(const VaryingRow<Value>& row, RowRange range,
                                          const SmootherStep& step, const Value* f,
                                          const RowNeighbours<Value>& x, const Value* before,
                                          Value* out) {
  smooth_row<Simd, has>(row, range, static_cast<Value>(step.momentum),
                        static_cast<Value>(step.factor), f, x, before, out);
}

template <class Simd, class Value>
[[gnu::always_inline]] inline void find_residual(const StencilRow<Value>& row, RowRange range,
                                                 const Value* f, const RowNeighbours<Value>& x,
                                                 Value* out) {
  with_kind(row, [&](auto kind) __attribute__((always_inline)) {
    residual_row<Simd, kind()>(row, range, f, x, out);
  });
}

template <class Simd, class Value>
[[gnu::always_inline]] inline void find_residual(const VaryingRow<Value>& row, RowRange range,
                                                 const Value* f, const RowNeighbours<Value>& x,
                                                 Value* out) {
  residual_row<Simd>(row, range, f, x, out);
}

/// Couplings of a plane that vary.
template <class Value>
class VaryingPlane {
 public:
  VaryingPlane(const LevelCouplings<Value>& couplings, spmv::GlobalIndex z)
      : couplings_(couplings), z_(z) {}
  [[gnu::always_inline]] VaryingRow<Value> row(spmv::GlobalIndex y) const {
    return {couplings_, y, z_};
  }
  [[gnu::always_inline]] void fetch(spmv::GlobalIndex y, RowRange range) const {
    for (std::size_t d = 0; d < 3; ++d)
      fetch_row(couplings_.before[d].row(y, z_ + (d == 2 ? 1 : 0)), range);
    fetch_row(couplings_.inverse_diagonal.row(y, z_), range);
  }

 private:
  const LevelCouplings<Value>& couplings_;
  spmv::GlobalIndex z_;
};

/// A grid whose couplings are the same at all points, as a pass sees it.
template <class Value>
struct ConstantGrid {
  using Restriction = solver::Restriction<Value>;
  using Interpolation = solver::Interpolation<Value>;

  /// The first two steps from zero are one stage, which reads f instead of x₁.
  static constexpr bool joins_first_steps = true;

  PlaneCouplings<Value> plane(spmv::GlobalIndex z) const { return {level, z}; }
  /// x₂ of row (y, z).
  template <class Simd>
  [[gnu::always_inline]] void first_steps(const std::optional<FirstSteps<Value>>& rows,
                                          const StencilRow<Value>& /*row*/, spmv::GlobalIndex y,
                                          spmv::GlobalIndex z, RowRange range,
                                          const SmootherStep& /*second*/, const Value* /*f*/,
                                          const RowNeighbours<Value>& f_around, Value* out) const {
    const FirstStepsRow<Value>& both = rows->row(y, z);
    with_kind(both, [&](auto kind) __attribute__((always_inline)) {
      first_steps_row<Simd, kind()>(both, range, level.directions[0].size - 1, f_around, out);
    });
  }
  Restriction restriction(const GridLevel& coarse, const spmv::GridBox& own,
                          const spmv::GridBox& rows, GridArray<Value>& out,
                          Allotment<Value>& allotment, const Value* zeros) const {
    return {level, coarse, own, rows, out, allotment, zeros};
  }
  Interpolation interpolation(const spmv::GridBox& rows, const GridArray<Value>& e,
                              Allotment<Value>& allotment) const {
    return {level, rows, e, allotment};
  }

  const GridLevel& level;
};

/// A grid whose couplings vary, as a pass sees it.
template <class Value>
struct VaryingGrid {
  using Restriction = VaryingRestriction<Value>;
  using Interpolation = VaryingInterpolation<Value>;

  static constexpr bool joins_first_steps = false;

  VaryingPlane<Value> plane(spmv::GlobalIndex z) const { return {couplings, z}; }
  template <class Simd>
  [[gnu::always_inline]] static void first_steps(const std::optional<FirstSteps<Value>>& /*rows*/,
                                                 const VaryingRow<Value>& row,
                                                 spmv::GlobalIndex /*y*/, spmv::GlobalIndex /*z*/,
                                                 RowRange range, const SmootherStep& second,
                                                 const Value* f, const RowNeighbours<Value>& x,
                                                 Value* out) {
    smooth<Simd, Before::zero, Value>(row, range, second, f, x, nullptr, out);
  }
  Restriction restriction(const GridLevel& /*coarse*/, const spmv::GridBox& own,
                          const spmv::GridBox& rows, GridArray<Value>& out,
                          Allotment<Value>& allotment, const Value* /*zeros*/) const {
    return {level, couplings, own, rows, out, allotment};
  }
  Interpolation interpolation(const spmv::GridBox& rows, const GridArray<Value>& e,
                              Allotment<Value>& allotment) const {
    return {level, couplings, rows, e, allotment};
  }

  const GridLevel& level;
  const LevelCouplings<Value>& couplings;
};

}  // namespace weft::solver
