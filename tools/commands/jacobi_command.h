#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft jacobi`: synchronous or asynchronous sweeps. Collective over all ranks.
void add_jacobi_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
