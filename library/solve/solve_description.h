#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "library/include/weft/weft.hpp"
#include "library/solve/chosen_solver.h"
#include "solver/report/solve_report.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

using Json = nlohmann::ordered_json;

/// The status of a report in the public words. Thread: any.
inline Status status_of(solver::SolveStatus status) { return static_cast<Status>(status); }

/// The description of a solve: what was solved with, and how it ended. All reports are made of it:
/// weft::Report is it, weft_report a part, and `weft solve` adds what it measures on all ranks.
/// `op`: that of the caller; `format`: how it is stored.
Report describe(const ChosenSolver& solver, const solver::SolveReport& solved,
                const spmv::LinearOperator& op, std::string format);

/// How it ended: by the names of docs/reference/json.md.
Json outcome_json(const Report& report);

/// All of it, by those names. Times of phases are this rank's, as minimum, mean and maximum.
Json json_of(const Report& report);

}  // namespace weft::library
