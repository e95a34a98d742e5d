#pragma once

#include <cstdint>

#include "comm_thread/mpi/communicator.h"
#include "perfmodel/stopwatch.h"

namespace weft::library {

/// Ends iterations after a number of seconds, on all ranks after the same one.
///
/// The ranks agree by a reduction, at first after 1, 2, 4, … iterations, then about every 20 ms:
/// below a thousandth of the time.
class TimeLimit {
 public:
  /// Duplicates `ranks`. Collective. Throws comm_thread::MpiError.
  TimeLimit(const comm_thread::Communicator& ranks, double seconds)
      : ranks_(ranks.collective_duplicate()), limit_seconds_(seconds) {}

  double limit_seconds() const { return limit_seconds_; }

  /// Time counts from now on. Thread: the main thread, outside the team.
  void start();

  /// Counts an iteration; true once the time is over, the same on every rank. Collective. Thread:
  /// the primary thread.
  bool collective_is_over();

  /// What `collective_is_over` has answered last. Thread: as `start`.
  bool was_over() const { return is_over_; }

 private:
  comm_thread::Communicator ranks_;
  double limit_seconds_;
  perfmodel::Stopwatch watch_;
  std::int64_t iterations_ = 0;
  std::int64_t next_ = 1;  // number of the iteration after which the ranks agree
  bool is_over_ = false;
};

}  // namespace weft::library
