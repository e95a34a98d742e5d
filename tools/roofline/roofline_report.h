#pragma once

#include <string>
#include <vector>

#include "library/roofline/bandwidth_survey.h"
#include "library/roofline/kernel_race.h"
#include "perfmodel/stream_kernels.h"
#include "tools/job/job_report.h"

namespace weft::tools {

/// One loop in a report. `elements_per_second`: of all cores together.
Json stream_report(perfmodel::Stream stream, double elements_per_second);
/// The fields' names: of what the bandwidth is, and of its size.
Json bandwidth_report(const std::vector<library::PartBandwidth>& parts, const char* part_field,
                      const char* size_field);
Json likwid_report(const library::LikwidComparison& comparison);

/// One kernel of the report; `counters`: of all (Counters::collective_report).
Json kernel_report(const library::KernelResult& result, const Json& counters);

/// Names of the kernels that are below `required` of their models although their data is in memory.
std::vector<std::string> kernels_below(const std::vector<library::KernelResult>& results,
                                       double required);

/// The whole report as tables.
void print_roofline(const Json& report);

}  // namespace weft::tools
