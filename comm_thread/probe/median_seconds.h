#pragma once

#include <type_traits>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "perfmodel/statistics.h"
#include "perfmodel/stopwatch.h"

namespace weft::comm_thread {

/// Median of `sample_count` times of the slowest rank, after one that warms up. `work` returns its
/// seconds, or nothing where all of it counts. The same on all ranks. Collective. Thread: the main
/// thread, outside the team.
template <class Work>
double collective_median_seconds(const Communicator& communicator, int sample_count,
                                 const Work& work) {
  std::vector<double> samples;
  for (int i = 0; i <= sample_count; ++i) {
    communicator.barrier();
    const perfmodel::Stopwatch watch;
    double seconds = 0;
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      work();
      seconds = watch.seconds();
    } else {
      seconds = work();
    }
    seconds = communicator.max(seconds);
    if (i > 0) samples.push_back(seconds);
  }
  return perfmodel::median(samples);
}

}  // namespace weft::comm_thread
