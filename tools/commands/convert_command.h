#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft convert IN OUT`: reads a matrix or a vector from a file and writes it in another format.
/// Adds the subcommand to `program`; its exit code goes to `exit_code` when it was chosen.
void add_convert_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
