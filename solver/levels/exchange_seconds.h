#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "perfmodel/stopwatch.h"

namespace weft::solver {

/// Seconds of exchange(), on the slowest rank: the median of `sample_count` after one that warms
/// up. The same on all ranks. Collective. Thread: the main thread, outside the team.
template <class Exchange>
double collective_exchange_seconds(const comm_thread::Communicator& communicator,
                                   std::size_t sample_count, const Exchange& exchange) {
  std::vector<double> samples;
  for (std::size_t i = 0; i <= sample_count; ++i) {
    communicator.barrier();
    const perfmodel::Stopwatch watch;
    exchange();
    if (i > 0) samples.push_back(watch.seconds());
  }
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(sample_count / 2);
  std::ranges::nth_element(samples, middle);
  return communicator.max(*middle);
}

}  // namespace weft::solver
