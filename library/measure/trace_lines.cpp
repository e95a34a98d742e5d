#include "library/measure/trace_lines.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

namespace weft::library {

using perfmodel::ThreadTrace;

namespace {

/// In microseconds, as the format wants it.
void append_time(std::string& text, const char* key, std::int64_t nanoseconds) {
  fmt::format_to(std::back_inserter(text), ",\"{}\":{}.{:03}", key, nanoseconds / 1000,
                 nanoseconds % 1000);
}

}  // namespace

std::vector<TraceLine> trace_lines(const std::vector<ThreadTrace::Event>& events, int thread) {
  std::vector<TraceLine> lines;
  lines.reserve(events.size());
  for (const ThreadTrace::Event& event : events) {
    switch (event.kind) {
      case ThreadTrace::Kind::span:
        lines.push_back({event.begin_ns, &event, thread, 'X'});
        break;
      case ThreadTrace::Kind::instant:
        lines.push_back({event.begin_ns, &event, thread, 'i'});
        break;
      case ThreadTrace::Kind::overlapping:
        lines.push_back({event.begin_ns, &event, thread, 'b'});
        lines.push_back({event.end_ns, &event, thread, 'e'});
        break;
    }
  }
  // Equal times stay as they are: longer spans first.
  std::ranges::sort(lines, {}, [](const TraceLine& line) {
    return std::tuple(line.time_ns, line.event, line.phase);
  });
  return lines;
}

void append_trace_line(std::string& text, const TraceLine& line, int rank, std::int64_t zero_ns) {
  const ThreadTrace::Event& event = *line.event;
  fmt::format_to(std::back_inserter(text),
                 ",\n{{\"name\":\"{}\",\"cat\":\"weft\",\"ph\":\"{}\",\"pid\":{},\"tid\":{}",
                 event.name, line.phase, rank, line.thread);
  append_time(text, "ts", std::max<std::int64_t>(0, line.time_ns - zero_ns));
  if (line.phase == 'X') append_time(text, "dur", event.end_ns - event.begin_ns);
  if (line.phase == 'i') text += ",\"s\":\"t\"";
  if (line.phase == 'b' || line.phase == 'e')
    fmt::format_to(std::back_inserter(text), ",\"id\":\"{}.{}.{}\"", rank, line.thread,
                   event.begin_ns);
  if (event.argument >= 0)
    fmt::format_to(std::back_inserter(text), ",\"args\":{{\"rank\":{}}}", event.argument);
  text += '}';
}

std::string trace_metadata(const char* what, int rank, int thread, const std::string& name) {
  return fmt::format(
      ",\n{{\"name\":\"{}\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}",
      what, rank, thread, name);
}

}  // namespace weft::library
