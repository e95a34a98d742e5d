#pragma once

#include <vector>

#include "solver/report/solve_report.h"

namespace weft::solver {

/// The solves for several right-hand sides as one: the worst outcome, the iterations of all, the
/// largest residuals, and the phases of all together. `reports`: at least one.
SolveReport worst_of(const std::vector<SolveReport>& reports);

}  // namespace weft::solver
