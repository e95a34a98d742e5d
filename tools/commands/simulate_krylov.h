#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft simulate cg` and `weft simulate spmv`: methods whose ranks wait for each other, in every
/// mode. Adds both subcommands to `simulate`.
void add_simulate_krylov(CLI::App& simulate, const comm_thread::MpiSession& session,
                         int& exit_code);
/// `weft simulate eigen`: a search for eigenvalues on more and more ranks.
void add_simulate_eigen(CLI::App& simulate, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
