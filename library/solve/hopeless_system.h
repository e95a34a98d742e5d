#pragma once

#include <span>
#include <string>

#include "library/solve/row_residual.h"
#include "solver/report/solve_report.h"
#include "solver/report/stop_criterion.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::library {

/// What a solve that has failed was about.
struct FailedSolve {
  spmv::SparseOperator& op;
  RowResidual& residual;  // of the same operator
  bool is_symmetric = false;
  std::span<const double> b;
  std::span<const double> x;  // what is left of it
  /// By which each row of a residual is multiplied; empty: as it is. Shape: [element_count].
  std::span<const double> weights{};
};

/// Why no other method can solve the system either, in a line for the user; empty where one may:
///
/// - a row has zeros only, and b is not small there;
/// - the residual is what rounding leaves of b − A·x, more than is asked for;
/// - A is symmetric and A·r = 0, so that no x leaves a smaller residual.
///
/// Collective. Thread: the main thread, outside the team.
std::string collective_find_hopeless(const FailedSolve& solve, const solver::StopCriterion& stop);

}  // namespace weft::library
