#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft solve PROBLEM`: solves A·x = b and reports.
/// Adds the subcommand to `program`; its exit code goes to `exit_code` when it was chosen:
/// 0 converged, 3 not converged or breakdown. `rank_count`: of the job.
void add_solve_command(CLI::App& program, const comm_thread::MpiSession& session, int rank_count,
                       int& exit_code);

}  // namespace weft::tools
