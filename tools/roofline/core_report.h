#pragma once

#include <vector>

#include "perfmodel/core_bounds.h"
#include "perfmodel/ruler.h"
#include "tools/job/job_report.h"

namespace weft::tools {

/// Report of what cores do a second, 10⁹ operations of each kind.
Json core_rates_report(const perfmodel::CoreRates& rates);

/// Report of the load probe on one core, with the fault if it is held back.
Json probe_report(const perfmodel::ProbeSpeed& speed);

/// Report of the bounds of one kernel's time in cache.
Json core_bounds_report(const std::vector<perfmodel::CoreBound>& bounds);

/// The first two as text.
void print_cores(const Json& rates, const Json& probe);

}  // namespace weft::tools
