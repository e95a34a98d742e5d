#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "comm_thread/job/job.h"
#include "perfmodel/thread_trace.h"

namespace weft::library {

/// A ring of events for every thread of this rank: the compute threads in their order, then the
/// communication thread where there is one.
/// Thread: the main thread, outside the team, while nothing is in flight. Lifetime: inside that of
/// `job`.
class JobTrace {
 public:
  /// Every ring keeps the newest `events_per_thread` events, of 32 bytes each.
  JobTrace(comm_thread::Job& job, std::size_t events_per_thread);
  ~JobTrace();
  JobTrace(const JobTrace&) = delete;
  JobTrace& operator=(const JobTrace&) = delete;

  /// All threads record from now on.
  void start();
  /// No thread records any more.
  void stop();

  std::size_t thread_count() const { return threads_.size(); }
  bool is_compute_thread(std::size_t thread) const;
  /// "compute thread 0", "communication thread"
  std::string thread_name(std::size_t thread) const;
  /// After `stop`.
  const perfmodel::ThreadTrace& thread(std::size_t thread) const { return *threads_[thread]; }

 private:
  void attach_all(bool is_recording);

  comm_thread::Job& job_;
  std::vector<std::unique_ptr<perfmodel::ThreadTrace>> threads_;
  bool is_recording_ = false;
};

}  // namespace weft::library
