#pragma once

#include "solver/sweep/subdomain.h"
#include "tools/job/job.h"

namespace weft::tools {

/// ‖b‖: the residual at x = 0, where the subdomain is and its halo, too. Collective.
double collective_start_residual(Job& job, solver::Subdomain& subdomain);

}  // namespace weft::tools
