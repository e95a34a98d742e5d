#pragma once

namespace weft::tools {

/// Catches the signals that ask a job to end, while it lives, so that a solve can end in an orderly
/// way: SIGTERM, SIGINT, SIGUSR1 and SIGUSR2. Another one of them, two seconds later or after that,
/// ends the process at once.
///
/// Thread: the main thread; one object at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Number of the first signal that has come to this process; 0: none. Thread: any one.
  static int caught();
};

}  // namespace weft::tools
