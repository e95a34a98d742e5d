#pragma once

#include <mpi.h>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.h"
#include "tests/support/thread_count.h"

namespace weft::tests {

/// A job of all ranks, with the threads of this test, which are not pinned.
inline weft_job* create_c_job() {
  const weft_job_options options{.threads = thread_count(),
                                 .pinning = WEFT_KEEP,
                                 .strict_placement = 0,
                                 .on_stall = nullptr,
                                 .user = nullptr,
                                 .stall_seconds = 0,
                                 .allow_singletons = 0,
                                 .pin_beyond_mask = 0};
  weft_job* job = nullptr;
  CHECK(weft_job_create(MPI_COMM_WORLD, &options, &job) == WEFT_OK);
  return job;
}

}  // namespace weft::tests
