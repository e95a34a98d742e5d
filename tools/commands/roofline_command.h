#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft roofline [PROBLEM]`: what this node's memory gives, and how close to that the kernels are.
/// Adds the subcommand to `program`; `exit_code` is 4 when a kernel is below what `--require` asks.
void add_roofline_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code);

}  // namespace weft::tools
