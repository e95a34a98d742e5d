#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft study multigrid`: multigrid with 1 to 4 smoothing steps, precisions,
/// modes and gathering, as a method and as the preconditioner of CG. Collective over all ranks.
/// `study`: the command `weft study`.
void add_multigrid_study(CLI::App& study, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
