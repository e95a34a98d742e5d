#include "perfmodel/thread_trace.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace weft::perfmodel {

ThreadTrace::ThreadTrace(std::size_t capacity) : events_(std::max<std::size_t>(1, capacity)) {}

std::uint64_t ThreadTrace::dropped_count() const {
  return recorded_count() - std::min<std::uint64_t>(recorded_count(), events_.size());
}

std::vector<ThreadTrace::Event> ThreadTrace::events_by_begin() const {
  const auto kept = static_cast<std::ptrdiff_t>(recorded_count() - dropped_count());
  std::vector<Event> events(events_.begin(), events_.begin() + kept);
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  return events;
}

const char* kept_name(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;  // a set never moves its elements
  const std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

}  // namespace weft::perfmodel
