#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft generate PROBLEM FILE`: writes a matrix as Matrix Market. Adds the subcommand to
/// `program`.
void add_generate_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code);

}  // namespace weft::tools
