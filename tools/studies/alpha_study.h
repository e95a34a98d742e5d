#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft study alpha`: the same Schwarz solve with one alpha after the other. Collective over all
/// ranks. `study`: the command `weft study`.
void add_alpha_study(CLI::App& study, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
