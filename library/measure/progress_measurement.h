#pragma once

#include <cstddef>
#include <cstdint>

#include "comm_thread/job/job.h"
#include "comm_thread/probe/overlap_result.h"
#include "comm_thread/probe/progress_probe.h"
#include "library/measure/calibrated_work.h"

namespace weft::library {

/// Times operations alone, computation alone, and both at once, in turn, with the whole compute
/// team.
class ProgressMeasurement {
 public:
  /// `repetitions`: samples of each; 0: as many as fit into about a second, from 3 to 15.
  ProgressMeasurement(comm_thread::Job& job, int repetitions)
      : job_(job), repetitions_(repetitions) {}

  /// Overlap of `probe`'s operation with a computation that takes nearly as long: medians of the
  /// slowest rank's times. Collective.
  comm_thread::OverlapTimes collective_measure(comm_thread::ProgressProbe& probe,
                                               comm_thread::ProgressMethod method);

  /// True if every byte has arrived in all measurements so far. The same on all ranks.
  bool contents_are_correct() const { return wrong_words_ == 0; }

 private:
  /// One round of a sample.
  struct Round {
    bool communicates;
    std::int64_t steps;  // of computation
  };
  double collective_time(comm_thread::ProgressProbe& probe, comm_thread::ProgressMethod method,
                         Round round, int count);
  int choose_repetitions(double seconds_per_sample) const;

  comm_thread::Job& job_;
  CalibratedWork work_;
  int repetitions_;
  std::int64_t wrong_words_ = 0;
};

}  // namespace weft::library
