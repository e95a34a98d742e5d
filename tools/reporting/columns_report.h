#pragma once

#include <vector>

#include "solver/report/solve_report.h"
#include "tools/job/job_report.h"

namespace weft::tools {

/// The solves for several right-hand sides as one: the worst outcome, the iterations of all, the
/// largest residuals, and the phases of all together. `reports`: at least one.
solver::SolveReport worst_of(const std::vector<solver::SolveReport>& reports);

/// A line for each right-hand side.
void print_columns(const Json& columns);

}  // namespace weft::tools
