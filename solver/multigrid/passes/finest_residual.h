#pragma once

#include <span>

#include "solver/multigrid/grids/rim.h"
#include "solver/multigrid/passes/plane_ring.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/stencil.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver {

/// The residual b - A·x of a solution in double precision, for a hierarchy in any.
/// Shape: b, x: arrays of `layout`; beside the points that are asked for, x must be there. With a
/// `rim`, points that are not `layout`'s own are read from there.
struct FinestResidual {
  const spmv::GridStencil& stencil;
  const spmv::GridLayout& layout;
  const double* b;
  const double* x;
  double scale;  // by which it is divided
  std::span<const RimPart> rim{};

  /// Plane z of `points`, to the rows of `f`; adds the squares of the points in `own` to `square`,
  /// if there is one.
  template <class Value>
  void fill(const spmv::GridBox& points, const spmv::GridBox& own, spmv::GlobalIndex z,
            const typename PlaneRing<Value>::Plane& f, spmv::CloseSum* square) const;

  /// The squares alone.
  void add_square(const spmv::GridBox& own, spmv::CloseSum& square) const;
};

}  // namespace weft::solver
