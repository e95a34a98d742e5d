#pragma once

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

/// `weft study`: the same solve again and again with one parameter changed. Collective.
void add_study_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
