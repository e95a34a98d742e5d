#pragma once

#include "solver/sweep/sweeper.h"
#include "tools/job/job.h"

namespace weft::tools {

/// ‖b‖: the residual at x = 0, where the sweeper is and its halo, too. Collective.
double collective_start_residual(Job& job, solver::Sweeper& sweeper);

}  // namespace weft::tools
