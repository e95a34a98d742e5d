#pragma once

#include <vector>

#include "comm_thread/engine/schedule.h"

namespace weft::comm_thread {

/// Progresses any number of schedules from one thread.
///
/// Thread: always the same: the communication thread, or the caller if there is none.
class ScheduleExecutor {
 public:
  /// Starts the run that was posted last. Errors are kept for the thread that waits.
  void start(Schedule& schedule);

  /// Polls all operations in flight once; returns true if one completed.
  bool progress();

  bool is_idle() const { return active_.empty(); }

 private:
  void start_round(Schedule& schedule);
  /// Polls one schedule, ends rounds and the run; returns true if an operation completed.
  bool advance(Schedule& schedule);
  bool test_requests(Schedule& schedule);
  /// Ends the run and starts its continuation, which inherits its error.
  void finish(Schedule& schedule);

  std::vector<Schedule*> active_;
  std::vector<int> completed_;  // scratch of PreparedMessages::test
};

}  // namespace weft::comm_thread
