#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft compare`: the modes against each other, and against what the model says, on this job's
/// ranks and threads; tools/compare runs it for several of those and writes the page.
void add_compare_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
