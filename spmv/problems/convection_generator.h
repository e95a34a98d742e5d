#pragma once

#include <array>

#include "spmv/problems/problem.h"
#include "spmv/rows/row_visitor.h"

namespace weft::spmv {

/// Makes the rows of −Δu + v·∇u = f on a box whose points have the distance h = 1/(NX + 1), times
/// h²: 7 points, x fastest, u given on the boundary. The velocity v is constant; its derivative is
/// taken against the flow (upwind), so that the matrix is a nonsymmetric M-matrix for any v.
///
///     direction with p = v·h     row:  … −1 − max(p, 0) … 2 + |p| … −1 + min(p, 0) …
///
/// Thread: any number at the same time.
/// Source: Elman, Silvester, Wathen, "Finite Elements and Fast Iterative Solvers", section 6.3.
class ConvectionGenerator {
 public:
  /// `problem`: convection3d.
  explicit ConvectionGenerator(const Problem& problem);

  /// Visits the rows [begin, end) in ascending order.
  void visit_rows(GlobalIndex begin, GlobalIndex end, const RowVisitor& visit) const;

 private:
  GridSize grid_;
  std::array<double, 3> before_{};  // the coupling with the previous point of each direction
  std::array<double, 3> after_{};
  double diagonal_ = 0;
};

}  // namespace weft::spmv
