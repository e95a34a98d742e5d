#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft study scale-schwarz`: optimized Schwarz on simulated machines beside published values.
void add_schwarz_scale_study(CLI::App& study, const comm_thread::MpiSession& session,
                             int& exit_code);

}  // namespace weft::tools
