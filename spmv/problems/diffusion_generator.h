#pragma once

#include <array>
#include <functional>
#include <span>

#include "spmv/problems/problem.h"
#include "spmv/rows/row_visitor.h"

namespace weft::spmv {

/// Makes the rows of −∇·(k∇u) = b in finite volumes on a grid: 7 points, x fastest, each point with
/// a coefficient k. Two neighbours are coupled by the harmonic mean of theirs, which is the flux
/// through two half cells in series; a point beside the boundary is coupled to it by its own. With
/// k = 1 this is poisson3d. Symmetric positive definite. Thread: any number at the same time.
/// Source: Patankar, Numerical Heat Transfer and Fluid Flow, 1980, section 4.2-3.
class DiffusionGenerator {
 public:
  /// `problem`: diffusion3d.
  explicit DiffusionGenerator(const Problem& problem)
      : grid_(problem.grid), settings_(problem.diffusion) {}

  /// Visits the rows [begin, end) in ascending order.
  void visit_rows(GlobalIndex begin, GlobalIndex end, const RowVisitor& visit) const;

  /// Sum of each row's couplings with the boundary, in the order of their directions: the
  /// right-hand side if u = 1 there. `missing`: [end - begin].
  void sum_missing_weights(GlobalIndex begin, GlobalIndex end, std::span<double> missing) const;

  /// Calls visit(couplings) for the rows [begin, end) in ascending order, with those of a point and
  /// its neighbours z - 1, y - 1, x - 1, x + 1, y + 1, z + 1, or the boundary there. The diagonal
  /// of the row is their sum in this order.
  void visit_couplings(GlobalIndex begin, GlobalIndex end,
                       const std::function<void(const std::array<double, 6>&)>& visit) const;

  /// k of the points (0, y, z), (1, y, z), …
  void fill_coefficients(GlobalIndex y, GlobalIndex z, std::span<double> line) const;

 private:
  /// A point's neighbours: z - 1, y - 1, x - 1, x + 1, y + 1, z + 1.
  struct Point {
    std::array<double, 6> couplings;
    std::array<bool, 6> is_inside;
  };
  template <class Visit>
  void for_each_point(GlobalIndex begin, GlobalIndex end, const Visit& visit) const;

  GridSize grid_;
  DiffusionSettings settings_;
};

}  // namespace weft::spmv
