#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/job/job.h"
#include "library/roofline/stream_bench.h"
#include "perfmodel/stream_kernels.h"

namespace weft::library {

/// What loops reach with a part of this job's cores, or in a level of its caches.
struct PartBandwidth {
  std::int64_t part = 0;  // number of cores, NUMA domain, or level of the caches
  std::int64_t size = 0;  // cores of a domain; bytes of a cache for each thread
  std::vector<std::pair<perfmodel::Stream, double>> elements_per_second{};  // of all cores together
};

/// The bandwidth by number of cores, by NUMA domain, and level by level of the caches. Empty where
/// there is nothing to compare: on several ranks, with one domain, of unknown caches. Collective.
std::vector<PartBandwidth> collective_bandwidth_of_cores(const comm_thread::Job& job,
                                                         StreamBench& bench);
std::vector<PartBandwidth> collective_bandwidth_of_domains(const comm_thread::Job& job,
                                                           StreamBench& bench);
std::vector<PartBandwidth> collective_bandwidth_of_caches(const comm_thread::Job& job,
                                                          StreamBench& bench);

/// A loop of likwid-bench and the same one here, in turn.
struct LikwidLoop {
  perfmodel::Stream stream{};
  const char* level = "memory";  // "memory", "L1", "L2"
  std::string kernel{};  // of likwid-bench
  double bytes_per_second = 0;  // here, as likwid-bench counts
  double likwid_bytes_per_second = 0;
  double ratio = 0;
  double unsteadiness = 0;  // at most, of the rounds that count
  bool agrees = false;
};

struct LikwidComparison {
  std::string missing{};  // why loops were not compared; empty: all were
  std::vector<LikwidLoop> loops{};
};

/// Runs loops here and by likwid-bench in alternation; calls `on_step` before each. Collective.
LikwidComparison collective_likwid_comparison(const comm_thread::Job& job, StreamBench& bench,
                                              const OnStep& on_step);

}  // namespace weft::library
