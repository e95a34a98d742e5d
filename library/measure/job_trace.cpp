#include "library/measure/job_trace.h"

#include "comm_thread/engine/schedule.h"

namespace weft::library {

using comm_thread::TeamThread;
using perfmodel::ThreadTrace;

JobTrace::JobTrace(comm_thread::Job& job, std::size_t events_per_thread) : job_(job) {
  const int count = job_.team().thread_count() + (job_.comm_thread().has_thread() ? 1 : 0);
  for (int thread = 0; thread < count; ++thread)
    threads_.push_back(std::make_unique<ThreadTrace>(events_per_thread));
}

JobTrace::~JobTrace() { stop(); }

bool JobTrace::is_compute_thread(std::size_t thread) const {
  return static_cast<int>(thread) < job_.team().thread_count();
}

std::string JobTrace::thread_name(std::size_t thread) const {
  return is_compute_thread(thread) ? "compute thread " + std::to_string(thread)
                                   : "communication thread";
}

void JobTrace::attach_all(bool is_recording) {
  const auto set = [&](std::size_t thread) {
    if (is_recording)
      threads_[thread]->attach();
    else
      ThreadTrace::detach();
  };
  job_.team().run([&](const TeamThread& thread) { set(static_cast<std::size_t>(thread.index)); });
  if (!job_.comm_thread().has_thread()) return;
  // A schedule without messages: its local operation runs in the communication thread.
  comm_thread::Schedule::Builder builder(job_.comm_thread_world(), "trace");
  builder.end_round([&] { set(threads_.size() - 1); });
  const auto schedule = builder.build();
  job_.comm_thread().post(*schedule).wait();
}

void JobTrace::start() {
  attach_all(true);
  is_recording_ = true;
}

void JobTrace::stop() {
  if (!is_recording_) return;
  attach_all(false);
  is_recording_ = false;
}

}  // namespace weft::library
