#pragma once

#include "tools/job/job.h"
#include "tools/job/report.h"
#include "tools/roofline/stream_bench.h"

namespace weft::tools {

/// What the cores of this job get from memory and caches, as a report: by number of cores, by NUMA
/// domain, level by level of the caches. Collective.
Json collective_bandwidth_of_cores(const Job& job, StreamBench& bench);
Json collective_bandwidth_of_domains(const Job& job, StreamBench& bench);
Json collective_bandwidth_of_caches(const Job& job, StreamBench& bench);

/// The same loops by likwid-bench, in turn with those here; what is missing, and why, where it
/// cannot be run. Collective.
Json collective_likwid_comparison(const Job& job, StreamBench& bench);

/// One loop in a report. `elements_per_second`: of all cores together.
Json stream_report(perfmodel::Stream stream, double elements_per_second);

}  // namespace weft::tools
