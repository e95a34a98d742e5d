#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "comm_thread/job/job.h"
#include "library/measure/bandwidth_probe.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "perfmodel/statistics.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/modes/mode.h"

namespace weft::library {

/// Times y = A·x in several modes, in turn, and counts the results that differ in any bit. With
/// `measures_bandwidth` the memory bandwidth as well, after each turn.
/// Lifetime: inside that of `job` and `op`.
class ModeRace {
 public:
  /// Memory of a rank for measuring the bandwidth.
  static double bandwidth_bytes(const comm_thread::Job& job);

  /// Collective. Thread: the main thread.
  ModeRace(const comm_thread::Job& job, spmv::LinearOperator& op, std::vector<spmv::Mode> modes,
           bool measures_bandwidth);

  /// Collective. Once.
  void collective_run(int repetitions);

  /// One product: from when the last rank begins to when the last one ends. Ranks leave a barrier
  /// at times that differ by up to a latency, which would count twice by a rank's own clock.
  perfmodel::Statistics seconds(std::size_t mode) const {
    return perfmodel::summarise(seconds_[mode]);
  }
  /// Time of this rank's primary thread in one product, on average.
  double phase_seconds(std::size_t mode, perfmodel::Phase phase) const;
  /// With `measures_bandwidth`.
  perfmodel::Statistics bandwidth() const { return perfmodel::summarise(bandwidth_); }
  bool bits_are_equal() const { return differences_ == 0; }

 private:
  double collective_time(std::size_t mode, bool is_counted);
  void compare(bool is_first);

  const comm_thread::Job& job_;
  spmv::LinearOperator& op_;
  std::vector<spmv::Mode> modes_;
  double clock_offset_;  // seconds to add to this rank's clock to get that of rank 0
  std::unique_ptr<spmv::Operand> x_;
  perfmodel::HugePageBuffer<double> y_;
  perfmodel::HugePageBuffer<double> first_y_;
  std::optional<BandwidthProbe> probe_;
  std::vector<std::vector<double>> seconds_;  // per mode
  std::vector<perfmodel::PhaseTimes> phases_;  // per mode, sums
  std::vector<double> bandwidth_;
  std::atomic<std::int64_t> differences_{0};
};

}  // namespace weft::library
