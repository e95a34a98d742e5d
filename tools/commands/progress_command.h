#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft progress`: which messages move while the ranks compute, with MPI alone, with MPICH's own
/// progress thread and with the communication thread.
/// Adds the subcommand to `program`; `exit_code` is 1 when something arrived wrong.
void add_progress_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code);

}  // namespace weft::tools
