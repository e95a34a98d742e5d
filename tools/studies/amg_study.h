#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft study amg`: cycles, degrees of smoothing, strengths and modes of algebraic multigrid.
/// Collective over all ranks. `study`: the command `weft study`.
void add_amg_study(CLI::App& study, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
