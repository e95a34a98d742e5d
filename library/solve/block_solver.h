#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "library/solve/solve_limits.h"
#include "library/solve/vectors_in_range.h"
#include "solver/krylov/conjugate_gradient.h"
#include "solver/krylov/method.h"
#include "solver/report/solve_report.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

/// Conjugate gradients for 8, 4 or 2 right-hand sides at once, made for each width when it is first
/// needed.
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: `limits` outlives
/// it.
class BlockSolver {
 public:
  explicit BlockSolver(const SolveLimits& limits) : limits_(limits) {}

  /// Vectors to solve for at once, of `count` that are left; 1: one after another.
  static std::size_t width(std::size_t count) {
    return count >= 8 ? 8 : count >= 4 ? 4 : count >= 2 ? 2 : 1;
  }
  /// True if reading `op` once for several vectors is quicker than for one after the other.
  static bool collective_pays(const spmv::LinearOperator& op);

  /// Forgets what refers to an operator and a preconditioner.
  void forget() { methods_.clear(); }

  /// Solves for `vectors`, 8, 4 or 2, with `op` and what `options` of the method for one say.
  std::vector<solver::SolveReport> collective_solve(spmv::SparseOperator& op,
                                                    const solver::KrylovMethod::Options& options,
                                                    const std::deque<VectorsInRange>& vectors);
  /// The last solution number `vector` of those of `width` at once. Shape: [element_count].
  std::span<const double> solution(std::size_t width, std::size_t vector) const {
    return methods_.at(width)->solution(static_cast<int>(vector));
  }

 private:
  solver::ConjugateGradient& collective_method(spmv::SparseOperator& op,
                                               const solver::KrylovMethod::Options& options,
                                               std::size_t width);

  const SolveLimits& limits_;
  std::map<std::size_t, std::unique_ptr<solver::ConjugateGradient>> methods_;  // by width
};

}  // namespace weft::library
