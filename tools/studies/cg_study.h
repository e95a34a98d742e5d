#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft study cg`: the variants of conjugate gradients in every mode, in turn, beside a textbook's
/// unfused loops. Collective over all ranks. `study`: the command `weft study`.
/// Source: Hoefler et al. 2007, sections 5 and 6 (blocking against non-blocking halos).
void add_cg_study(CLI::App& study, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
