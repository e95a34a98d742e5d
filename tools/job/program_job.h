#pragma once

#include "comm_thread/job/job.h"
#include "comm_thread/mpi/mpi_session.h"

namespace weft::tools {

using comm_thread::Job;

/// The options that say how many threads a job has, and where.
struct ThreadOptions {
  int threads = 0;
  bool strict_placement = false;
  bool pin_beyond_mask = false;
};

/// A job that says on standard error for whom it waits when nothing moves for WEFT_STALL_SECONDS.
///
/// Collective. Throws comm_thread::InputError on every rank, also for what another rank has thrown
/// before it came here, when that rank hands its fault to collective_agreed_fault.
/// Lifetime: inside that of `session`.
Job collective_start_job(const comm_thread::MpiSession& session, const ThreadOptions& chosen);

}  // namespace weft::tools
