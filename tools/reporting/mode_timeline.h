#pragma once

#include "spmv/modes/linear_operator.h"
#include "spmv/modes/mode.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// Activities of every thread of rank 0, and of the rank half of all ranks further, during one
/// product y = A·x: the one with the median time of several. Times are in seconds since the first
/// of those ranks began it, by one clock.
///
/// `threads[].events` follow each other: phases of a compute thread, exchanges of the communication
/// thread. `threads[].messages`: exchanges that a compute thread itself started, beside its phases.
/// Complete on rank 0. Collective. Thread: the main thread.
Json collective_mode_timeline(Job& job, spmv::LinearOperator& op, spmv::Mode mode);

}  // namespace weft::tools
