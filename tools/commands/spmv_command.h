#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft spmv PROBLEM`: times y = A·x in each mode, in turn, beside the bandwidth of the same run,
/// and checks that all modes give the same bits.
/// Adds the subcommand to `program`; `exit_code` is 1 when bits differ.
void add_spmv_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
