#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft compare`: compares the modes with each other and with the model, on this job's ranks and
/// threads; tools/compare runs it for several layouts and writes the page.
void add_compare_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
