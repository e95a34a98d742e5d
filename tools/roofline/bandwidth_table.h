#pragma once

#include "library/roofline/stream_bench.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// Report of the bandwidth of this job's cores from memory and caches: by number of cores, by NUMA
/// domain, and level by level of the caches. Collective.
Json collective_bandwidth_of_cores(const Job& job, library::StreamBench& bench);
Json collective_bandwidth_of_domains(const Job& job, library::StreamBench& bench);
Json collective_bandwidth_of_caches(const Job& job, library::StreamBench& bench);

/// Report of the same loops run by likwid-bench in alternation with those here; if it cannot be
/// run, the reason. Collective.
Json collective_likwid_comparison(const Job& job, library::StreamBench& bench);

/// One loop in a report. `elements_per_second`: of all cores together.
Json stream_report(perfmodel::Stream stream, double elements_per_second);

}  // namespace weft::tools
