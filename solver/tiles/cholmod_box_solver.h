#pragma once

#include <span>

#include "solver/direct/cholmod_factor.h"
#include "solver/tiles/box_solver.h"
#include "solver/tiles/robin_box.h"

namespace weft::solver {

/// Solves with a sparse Cholesky factorization (CholmodFactor).
class CholmodBoxSolver final : public BoxSolver {
 public:
  /// Throws comm_thread::InputError where the matrix is not positive definite to working precision.
  CholmodBoxSolver(const RobinBox& box, int thread_count);

  std::span<const double> solve(int thread, std::span<double> right_hand_side,
                                const BoxFrame& given, const BoxFrame& wanted) override;
  bool gains_by(const BoxFrame& /*wanted*/) const override { return false; }

 private:
  RobinBox box_;
  CholmodFactor factor_;
};

}  // namespace weft::solver
