#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::perfmodel {

/// Ring buffer of fixed size with the newest events of one thread.
///
/// A thread records into the trace attached to it (`attach`); without one, recording costs a load
/// and a branch. Recording neither locks nor allocates.
///
/// Memory ordering: only the attached thread writes; it publishes each event by a release store of
/// `count_`. Others read events once the thread is at rest and no longer overwrites them.
class ThreadTrace {
 public:
  using Clock = std::chrono::steady_clock;

  /// `span`: nests inside other spans of the thread. `overlapping`: may overlap them. `instant`: a
  /// moment.
  enum class Kind : std::int32_t { span, overlapping, instant };
  struct Event {
    std::int64_t begin_ns;  // of the steady clock
    std::int64_t end_ns;
    const char* name;  // lives as long as the program
    std::int32_t argument;  // a rank, or -1
    Kind kind;
  };

  /// Keeps the newest `capacity` events, at least one.
  explicit ThreadTrace(std::size_t capacity);

  /// Makes the calling thread record here from now on. Lifetime: `detach` before destruction.
  void attach() { of_this_thread_ = this; }
  static void detach() { of_this_thread_ = nullptr; }
  /// Trace of the calling thread; null if it records nothing.
  static ThreadTrace* of_this_thread() { return of_this_thread_; }

  static std::int64_t nanoseconds(Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  }
  static std::int64_t now() { return nanoseconds(Clock::now()); }

  /// Records one event. Thread: the attached one.
  void record(const char* name, Kind kind, std::int64_t begin_ns, std::int64_t end_ns,
              int argument = -1) {
    const std::uint64_t number = count_.load(std::memory_order_relaxed);
    events_[number % events_.size()] = {begin_ns, end_ns, name, argument, kind};
    count_.store(number + 1, std::memory_order_release);
  }

  /// Starts a sequence of phases: each begins when the previous one ended.
  void start_laps(std::int64_t now_ns) { last_lap_ns_ = now_ns; }
  void lap(const char* name, std::int64_t now_ns) {
    record(name, Kind::span, last_lap_ns_, now_ns);
    last_lap_ns_ = now_ns;
  }

  /// Events recorded so far, including overwritten ones.
  std::uint64_t recorded_count() const { return count_.load(std::memory_order_acquire); }
  std::uint64_t dropped_count() const;
  /// Events still in the ring, in the order in which spans have to be written: by begin, longer
  /// ones first.
  std::vector<Event> events_by_begin() const;

 private:
  inline static thread_local ThreadTrace* of_this_thread_ = nullptr;

  std::vector<Event> events_;
  std::atomic<std::uint64_t> count_{0};
  std::int64_t last_lap_ns_ = 0;
};

/// Records a moment, if the calling thread has a trace.
inline void trace_instant(const char* name, int argument = -1) {
  ThreadTrace* const trace = ThreadTrace::of_this_thread();
  if (!trace) return;
  const std::int64_t now = ThreadTrace::now();
  trace->record(name, ThreadTrace::Kind::instant, now, now, argument);
}

/// Returns a copy of `name` that lives until the program ends. For set-up: takes a lock. Thread:
/// any.
const char* kept_name(const std::string& name);

}  // namespace weft::perfmodel
