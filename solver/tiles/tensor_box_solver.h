#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "solver/tiles/box_solver.h"
#include "solver/tiles/robin_box.h"

namespace weft::solver {

/// Solves directly, because the matrix is a Kronecker sum: diagonal in x after a change of basis,
/// tridiagonal in y.
///
///     I ⊗ T_x + T_y ⊗ I,  T_x = V·Λ·Vᵀ:   û = u·V                   every row by itself
///                                         (T_y + λ_k)·ŵ_k = û_k     every column by itself
///                                         w = ŵ·Vᵀ
///
/// 4·w²·h flops for the two products, 44·w² where frames are thin, 4·w·h for the tridiagonal
/// systems; everything but the right-hand side stays in the second-level cache.
/// Solutions do not depend on the processor. Source: Lynch, Rice, Thomas 1964 (fast
/// diagonalisation); Buzbee, Golub, Nielson 1970 (in one direction only).
class TensorBoxSolver final : public BoxSolver {
 public:
  /// Throws comm_thread::InputError where the matrix is not positive definite to working precision.
  TensorBoxSolver(const RobinBox& box, int thread_count);

  std::span<const double> solve(int thread, std::span<double> right_hand_side,
                                const BoxFrame& given, const BoxFrame& wanted) override;
  /// If rows have at least four vectors for one that is wanted. Sweeps take 0.93 and 0.64 times as
  /// long then (5 for 1: 32 points and overlap 1; 9 for 1: 64); with 3 for 1 (16 points) 1.12.
  bool gains_by(const BoxFrame& wanted) const override;

 private:
  /// The ends of a row of the solution, if no more are wanted: so many columns at either end are
  /// one vector, the next as many another one. Enough for overlap 1, and 3.
  static constexpr std::size_t end_columns = 4;
  static constexpr std::size_t most_ends = 2;

  /// A thread's own, on cache lines of its own.
  struct alignas(64) Workspace {
    std::vector<double> transformed;  // [height × padded width]
    std::vector<double> solution;  // [height × padded width], then [height × width]
    std::vector<double> ends;  // of rows of the solution: [height × 2·end_columns]
  };

  void transform(const double* right_hand_side, const BoxFrame& given, double* transformed) const;
  std::size_t end_count(const BoxFrame& wanted) const;
  void transform_back(Workspace& workspace, const BoxFrame& wanted) const;
  void eliminate(std::vector<double>& columns) const;

  RobinBox box_;
  std::size_t padded_;  // width, rounded up to whole vectors
  std::vector<double> vectors_;  // V: [width × padded]
  std::vector<double> transposed_;  // Vᵀ: [width × padded]
  /// Its first and last columns: [width × 2·end_columns], then the next ones.
  std::array<std::vector<double>, most_ends> ends_;
  std::vector<double> inverse_pivots_;  // of T_y + λ_k: [height × padded]
  std::vector<Workspace> workspaces_;
};

}  // namespace weft::solver
