#pragma once

#include <span>
#include <string>
#include <vector>

#include "solver/report/solve_report.h"

namespace weft::library {

/// The x with the least residual among methods of one solve that have not converged.
/// Thread: the main thread.
class LeastSolution {
 public:
  /// Before a solve.
  void clear() { way_.clear(); }

  /// Keeps `x`, which `way` has left, where no method before has left a smaller residual.
  void offer(std::span<const double> x, const solver::SolveReport& report, const std::string& way);

  /// At the end of a solve: if x is better than what `report` tells of, gives the report its
  /// residuals, and why that method has ended, and returns a line for the user; else forgets x and
  /// returns nothing.
  std::string take_place_in(solver::SolveReport& report);

  /// True if it is to be used instead of the last solution.
  bool is_kept() const { return !way_.empty(); }
  std::span<const double> x() const { return x_; }

 private:
  std::vector<double> x_;
  solver::SolveReport report_;
  std::string way_;  // empty: nothing is kept
};

}  // namespace weft::library
