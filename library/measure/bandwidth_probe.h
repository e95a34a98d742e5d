#pragma once

#include <vector>

#include "comm_thread/job/job.h"
#include "perfmodel/huge_page_buffer.h"

namespace weft::library {

/// Measures the current memory bandwidth of this job, with its threads and cores, in alternation
/// with the kernel to be judged.
///
/// An array of 1 GiB per node is read once per call.
class BandwidthProbe {
 public:
  explicit BandwidthProbe(const comm_thread::Job& job);

  /// Size of the array of a rank.
  static double bytes(const comm_thread::Job& job);

  /// One pass over the array by all threads of all ranks: bytes per second. Collective.
  double collective_load_bytes_per_second();

 private:
  const comm_thread::Job& job_;
  perfmodel::HugePageBuffer<double> array_;
  std::vector<double> sums_;  // keep the loads alive
};

}  // namespace weft::library
