#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft simulate schwarz`: optimized Schwarz with one tile a rank. Adds the subcommand to
/// `simulate`.
void add_simulate_schwarz(CLI::App& simulate, const comm_thread::MpiSession& session,
                          int& exit_code);

}  // namespace weft::tools
