#pragma once

#include "perfmodel/stopwatch.h"
#include "spmv/problems/right_hand_side.h"
#include "tools/job/program_job.h"
#include "tools/system/solve_options.h"

namespace weft::tools {

/// Solves one system, writes the solution and reports; with --dry-run says what memory that takes.
/// `watch`: since the command began. Returns the exit code. Collective.
/// Throws comm_thread::InputError.
int collective_solve_system(Job& job, SolveOptions options,
                            const spmv::RightHandSide& right_hand_side,
                            const perfmodel::Stopwatch& watch);

}  // namespace weft::tools
