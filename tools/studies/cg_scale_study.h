#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft study scale-cg`: simulates a published strong scaling experiment of conjugate gradients
/// with and without overlapped halos, and shows it beside the published gain. Adds the subcommand
/// to `study`.
void add_cg_scale_study(CLI::App& study, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
