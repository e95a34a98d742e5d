#pragma once

#include <string>

#include "solver/multigrid/sweepers/multigrid_sweeper.h"

namespace weft::tools {

/// Settings of `--inner multigrid`.
struct InnerMultigrid {
  solver::MultigridSweeper::Cycle cycle = solver::MultigridSweeper::Cycle::additive;
  int steps = 0;  // of the smoother; 0: as the sweeper has it
};

/// True if an option is `multigrid`, alone or followed by a colon and settings.
bool is_inner_multigrid(const std::string& text);

/// `multigrid[:cycle=additive|v,steps=N]`. Throws comm_thread::InputError.
InnerMultigrid parse_inner_multigrid(const std::string& text);

}  // namespace weft::tools
