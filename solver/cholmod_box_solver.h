#pragma once

#include <span>

#include "solver/box_solver.h"
#include "solver/cholmod_factor.h"
#include "solver/robin_box.h"

namespace weft::solver {

/// Solves with a sparse Cholesky factorization (CholmodFactor).
class CholmodBoxSolver final : public BoxSolver {
 public:
  /// Throws comm_thread::InputError where the matrix is not positive definite to working precision.
  CholmodBoxSolver(const RobinBox& box, int thread_count);

  std::span<const double> solve(int thread, std::span<double> right_hand_side,
                                const BoxFrame& /*frame*/) override {
    return factor_.solve(thread, right_hand_side);
  }

 private:
  CholmodFactor factor_;
};

}  // namespace weft::solver
