#pragma once

#include <memory>

#include "comm_thread/job/job.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/roll_call.h"
#include "library/include/weft/weft.hpp"

namespace weft {
inline namespace v0 {

/// What a weft::Job is a handle of.
struct Job::State {
  State(comm_thread::Communicator world, comm_thread::JobOptions options);
  /// Without MPI nothing can be freed any more: what is left of the job stays.
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  comm_thread::RollCall roll_call;
  std::unique_ptr<comm_thread::Job> job;
};

}  // namespace v0
}  // namespace weft
