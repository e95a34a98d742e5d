#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::perfmodel {

/// What a thread did and when: the newest events, in a ring of fixed size.
///
/// A thread that was given one (`attach`) records into it wherever the code says so; one that was
/// not pays a load and a branch. Recording takes no lock and no memory.
///
/// Memory ordering: only the attached thread writes; it publishes each event by a release store of
/// `count_`. Others read events after it has come to rest, when nobody overwrites them.
class ThreadTrace {
 public:
  using Clock = std::chrono::steady_clock;

  /// `span`: nests inside other spans of the thread. `overlapping`: need not. `instant`: a moment.
  enum class Kind : std::int32_t { span, overlapping, instant };
  struct Event {
    std::int64_t begin_ns;  // of the steady clock
    std::int64_t end_ns;
    const char* name;  // lives as long as the program
    std::int32_t argument;  // a rank or -1
    Kind kind;
  };

  /// Keeps the newest `capacity` events, at least one.
  explicit ThreadTrace(std::size_t capacity);

  /// From now on the calling thread records here. Lifetime: `detach` before it is destroyed.
  void attach() { of_this_thread_ = this; }
  static void detach() { of_this_thread_ = nullptr; }
  /// Null where the calling thread records nothing.
  static ThreadTrace* of_this_thread() { return of_this_thread_; }

  static std::int64_t nanoseconds(Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  }
  static std::int64_t now() { return nanoseconds(Clock::now()); }

  /// Thread: the attached one.
  void record(const char* name, Kind kind, std::int64_t begin_ns, std::int64_t end_ns,
              int argument = -1) {
    const std::uint64_t number = count_.load(std::memory_order_relaxed);
    events_[number % events_.size()] = {begin_ns, end_ns, name, argument, kind};
    count_.store(number + 1, std::memory_order_release);
  }

  /// Phases one after the other: what ends now began when the one before ended.
  void start_laps(std::int64_t now_ns) { last_lap_ns_ = now_ns; }
  void lap(const char* name, std::int64_t now_ns) {
    record(name, Kind::span, last_lap_ns_, now_ns);
    last_lap_ns_ = now_ns;
  }

  /// Events recorded so far, those that have been overwritten included.
  std::uint64_t recorded_count() const { return count_.load(std::memory_order_acquire); }
  std::uint64_t dropped_count() const;
  /// What is kept, in the order in which spans have to be written: by begin, the longer ones first.
  std::vector<Event> events_by_begin() const;

 private:
  inline static thread_local ThreadTrace* of_this_thread_ = nullptr;

  std::vector<Event> events_;
  std::atomic<std::uint64_t> count_{0};
  std::int64_t last_lap_ns_ = 0;
};

/// Records that something happened now, on a thread that records.
inline void trace_instant(const char* name, int argument = -1) {
  ThreadTrace* const trace = ThreadTrace::of_this_thread();
  if (!trace) return;
  const std::int64_t now = ThreadTrace::now();
  trace->record(name, ThreadTrace::Kind::instant, now, now, argument);
}

/// `name`, kept until the program ends. For set-up: takes a lock. Thread: any.
const char* kept_name(const std::string& name);

}  // namespace weft::perfmodel
