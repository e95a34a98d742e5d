#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft spectrum`: how the eigenvalues of a symmetric matrix are spread.
void add_spectrum_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code);

}  // namespace weft::tools
