#pragma once

#include <memory>
#include <vector>

#include "solver/direct/cholmod_factor.h"
#include "solver/multigrid/couplings/grid_couplings.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"

namespace weft::solver {

/// The direct solution on the last grid of a hierarchy, by one thread of one rank.
class CoarsestGrid {
 public:
  /// `couplings`: of all points, where they vary; else null. Throws comm_thread::InputError where
  /// the operator is not positive definite.
  explicit CoarsestGrid(const GridLevel& level, const GridCouplings* couplings = nullptr);
  /// e = A⁻¹·f at all points of the grid.
  template <class Value>
  void solve(const GridArray<Value>& f, GridArray<Value>& e);

 private:
  double mass(spmv::GlobalIndex x, spmv::GlobalIndex y, spmv::GlobalIndex z) const;

  const GridLevel& level_;
  std::unique_ptr<CholmodFactor> factor_;  // of masses times A, which is symmetric
  std::vector<double> right_hand_side_;
};

}  // namespace weft::solver
