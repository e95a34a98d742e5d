#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft study scale`: simulates a published weak scaling experiment and shows it beside the
/// published values. Adds the subcommand to `study`.
void add_scale_study(CLI::App& study, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
