#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "library/measure/job_trace.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// Records what every thread of a run did and when, and writes it for Perfetto or Chrome
/// (`--trace FILE`): one process a rank, one track a thread.
///
/// Every thread has a ring of 65536 events (2 MiB); of a longer run the newest are kept.
class Timeline {
 public:
  /// `path`: empty for none. Collective. Throws comm_thread::InputError on every rank where it
  /// cannot be written. Lifetime: `job` outlives it.
  Timeline(Job& job, std::string path);

  /// All threads record from now on. Collective. Thread: the main thread, outside the team, while
  /// nothing is in flight.
  void collective_start();

  /// Stops recording and writes the file: every rank its own part of it, where that goes. Tells in
  /// `report` how many events there are. Collective. Thread: as above.
  void collective_write(Json& report);

 private:
  Job& job_;
  std::string path_;
  std::unique_ptr<library::JobTrace> trace_;  // none without a path
  std::int64_t zero_ns_ = 0;  // of this rank's clock
};

/// "trace FILE: N events", for people.
void print_trace(const Json& report);

}  // namespace weft::tools
