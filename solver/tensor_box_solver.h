#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "solver/box_solver.h"
#include "solver/robin_box.h"

namespace weft::solver {

/// Solves directly, because the matrix is a Kronecker sum: diagonal in x after a change of basis,
/// tridiagonal in y.
///
///     I ⊗ T_x + T_y ⊗ I,  T_x = V·Λ·Vᵀ:   û = u·V                   every row by itself
///                                         (T_y + λ_k)·ŵ_k = û_k     every column by itself
///                                         w = ŵ·Vᵀ
///
/// 4·w²·h flops for the two products, 32·w·h for those of a thin frame, 4·w·h for the tridiagonal
/// systems; everything but the right-hand side stays in the second-level cache.
/// Solutions do not depend on the processor. Source: Lynch, Rice, Thomas 1964 (fast
/// diagonalisation); Buzbee, Golub, Nielson 1970 (in one direction only).
class TensorBoxSolver final : public BoxSolver {
 public:
  /// Throws comm_thread::InputError where the matrix is not positive definite to working precision.
  TensorBoxSolver(const RobinBox& box, int thread_count);

  std::span<const double> solve(int thread, std::span<double> right_hand_side,
                                const BoxFrame& given, const BoxFrame& wanted) override;
  bool gains_by_frames() const override { return true; }

 private:
  /// If no more are wanted, the ends of a row of the solution are one vector. Enough for overlap 1.
  static constexpr std::size_t end_columns = 4;

  /// A thread's own, on cache lines of its own.
  struct alignas(64) Workspace {
    std::vector<double> transformed;  // [height × padded width]
    std::vector<double> solution;  // [height × padded width], then [height × width]
    std::vector<double> ends;  // of the rows of the solution: [height × 2·end_columns]
  };

  void transform(const double* right_hand_side, const BoxFrame& given, double* transformed) const;
  void transform_back(Workspace& workspace, const BoxFrame& wanted) const;
  void eliminate(std::vector<double>& columns) const;

  RobinBox box_;
  std::size_t padded_;  // width, rounded up to whole vectors
  std::vector<double> vectors_;  // V: [width × padded]
  std::vector<double> transposed_;  // Vᵀ: [width × padded]
  std::vector<double> ends_;  // its first and last columns: [width × 2·end_columns]
  std::vector<double> inverse_pivots_;  // of T_y + λ_k: [height × padded]
  std::vector<Workspace> workspaces_;
};

}  // namespace weft::solver
