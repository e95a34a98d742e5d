#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "comm_thread/job/job.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/core_bounds.h"
#include "perfmodel/core_probes.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/ruler.h"
#include "perfmodel/stream_kernels.h"

namespace weft::library {

/// Is told how many steps of how many are done.
using OnStep = std::function<void(std::size_t done, std::size_t all)>;

/// Measures the bandwidth of this job's cores from memory and caches in loops that only move data.
///
/// Three arrays per rank, in the memory of the threads that use them; together on a node eight
/// times its last-level caches, 512 MiB each at least.
class StreamBench {
 public:
  /// `array_bytes_of_node`: of each array; 0: eight times the last-level caches, 512 MiB at least.
  /// Collective.
  StreamBench(const comm_thread::Job& job, std::size_t array_bytes_of_node);

  /// Selects the threads of this rank that take part; the others wait.
  using Cores = std::function<bool(const comm_thread::TeamThread&)>;

  /// Makes one pass with those threads, which share the data in their NUMA domain; returns the
  /// elements per second of all ranks. Collective.
  double collective_elements_per_second(perfmodel::Stream stream, const Cores& cores);
  double collective_elements_per_second(perfmodel::Stream stream);

  /// Measures the same on arrays that together take half of `cache_bytes` per thread, again and
  /// again. It takes the best samples of all threads, because what disturbs them only takes time.
  /// Collective.
  double collective_elements_per_second_in_cache(perfmodel::Stream stream, std::size_t cache_bytes);

  /// Elements of one of these arrays in one thread.
  std::int64_t elements_in_cache(perfmodel::Stream stream, std::size_t cache_bytes) const;

  /// Multiplications and additions in registers, of all threads. Collective.
  double collective_flops_per_second();

  /// Operations a second of all threads, kind by kind: the best samples of each thread, because
  /// what disturbs them only takes time. Collective.
  perfmodel::CoreRates collective_core_rates();

  /// The load probe on one core, from its first-level cache and from memory in turn, at best.
  /// Collective.
  perfmodel::ProbeSpeed collective_probe_speed();

  /// Bytes of this node's caches that are quicker than memory: those of the last level, or of the
  /// second, `l2_bytes` a thread, where the last is none: a virtual machine of two cores may be
  /// told of a cache of 480 MB, and have a share that loads no quicker than memory. Collective.
  double collective_quick_cache_bytes(double l2_bytes);

  std::size_t array_bytes() const { return a_.size() * sizeof(double); }
  /// The NUMA domain of every thread of this rank.
  const std::vector<unsigned>& domains() const { return domains_; }

 private:
  comm_thread::Share share_of_thread(int thread) const;
  /// Share of `thread` when the threads in `takes_part` work.
  comm_thread::Share work_of(int thread, const std::vector<bool>& takes_part) const;
  double collective_elements_per_second_in_cache(perfmodel::Stream stream, std::size_t cache_bytes,
                                                 const Cores& cores);
  double collective_operations_per_second(perfmodel::CoreProbe probe, perfmodel::ProbeWidth width);
  /// Runs `work` in every thread; the slowest rank's time. Collective.
  double collective_seconds(const std::function<void(const comm_thread::TeamThread&)>& work) const;

  const comm_thread::Job& job_;
  std::vector<unsigned> domains_;
  double cache_bytes_of_node_ = 0;  // of all last-level caches of its cores in use
  perfmodel::HugePageBuffer<double> a_;
  perfmodel::HugePageBuffer<double> b_;
  perfmodel::HugePageBuffer<double> c_;
  std::vector<double> kept_alive_;  // [thread_count]
  std::vector<perfmodel::HugePageBuffer<double>> probe_buffers_;  // [thread_count]
};

}  // namespace weft::library
