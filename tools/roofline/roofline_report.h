#pragma once

#include <vector>

#include "library/roofline/kernel_race.h"
#include "tools/job/job_report.h"

namespace weft::tools {

/// One kernel of the report; `counters`: of all (Counters::collective_report).
Json kernel_report(const library::KernelResult& result, const Json& counters);

/// Names of the kernels that are below `required` of their models although their data is in memory.
std::vector<std::string> kernels_below(const std::vector<library::KernelResult>& results,
                                       double required);

/// The whole report as tables.
void print_roofline(const Json& report);

}  // namespace weft::tools
