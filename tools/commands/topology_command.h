#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft topology`: shows the machine, where every thread was planned and where it really is.
/// Adds the subcommand to `program`.
void add_topology_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code);

}  // namespace weft::tools
