#pragma once

#include <memory>

#include "comm_thread/job/job.h"
#include "library/include/weft/weft.hpp"

namespace weft {
inline namespace v0 {

/// What a weft::Job is a handle of.
struct Job::State {
  State(comm_thread::Communicator world, comm_thread::JobOptions options)
      : job(std::make_unique<comm_thread::Job>(std::move(world), std::move(options))) {}
  /// Without MPI nothing can be freed any more: what is left of the job stays.
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::unique_ptr<comm_thread::Job> job;
};

}  // namespace v0
}  // namespace weft
