#pragma once

#include <memory>

#include "solver/precondition/preconditioner.h"
#include "spmv/problems/problem.h"
#include "tools/commands/solve_system.h"
#include "tools/reporting/solve_summary.h"
#include "tools/system/solve_options.h"

namespace weft::tools {

/// The preconditioner that `options` ask for; null: none. Fills in what `facts` hold about it.
/// Collective. Throws comm_thread::InputError, which names the problem.
std::unique_ptr<solver::Preconditioner> collective_make_preconditioner(SolveSystem& system,
                                                                       const SolveOptions& options,
                                                                       const spmv::Problem& problem,
                                                                       SolveFacts& facts);

}  // namespace weft::tools
