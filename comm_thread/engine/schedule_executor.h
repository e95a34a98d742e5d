#pragma once

#include <vector>

#include "comm_thread/engine/schedule.h"

namespace weft::comm_thread {

/// Drives any number of schedules at once, from one thread.
///
/// Thread: always the same one: the communication thread, or the caller where there is none.
class ScheduleExecutor {
 public:
  /// Starts the run that was posted last. Errors are kept for whoever waits.
  void start(Schedule& schedule);

  /// Looks once at everything in flight; true when anything moved.
  bool progress();

  bool is_idle() const { return active_.empty(); }

 private:
  void start_round(Schedule& schedule);
  /// True when an operation completed; ends rounds and the run.
  bool advance(Schedule& schedule);
  bool test_requests(Schedule& schedule);
  /// Ends the run and starts its continuation, which shares its error if there is one.
  void finish(Schedule& schedule);

  std::vector<Schedule*> active_;
  std::vector<int> completed_;  // scratch of MPI_Testsome
};

}  // namespace weft::comm_thread
