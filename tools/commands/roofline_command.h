#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft roofline [PROBLEM]`: measures the memory bandwidth of this node, and how close to it the
/// kernels are.
/// Adds the subcommand to `program`; `exit_code` is 4 if a kernel is below the fraction given by
/// `--require`.
void add_roofline_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code);

}  // namespace weft::tools
