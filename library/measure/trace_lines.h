#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perfmodel/thread_trace.h"

namespace weft::library {

/// One line of a trace in the Trace Event Format, which Perfetto and Chrome read: an event, or one
/// end of an overlapping one.
struct TraceLine {
  std::int64_t time_ns;
  const perfmodel::ThreadTrace::Event* event;
  int thread;
  char phase;  // of the format: X complete, i instant, b and e ends
};

/// The lines of a thread's events, in the order of their times. Lifetime: `events` outlives them.
std::vector<TraceLine> trace_lines(const std::vector<perfmodel::ThreadTrace::Event>& events,
                                   int thread);

/// Appends ",", a new line and the object of `line`; `zero_ns`: where the times of the file begin.
void append_trace_line(std::string& text, const TraceLine& line, int rank, std::int64_t zero_ns);

/// The object that names a process or a thread, after "," and a new line. `what`: "process_name" or
/// "thread_name".
std::string trace_metadata(const char* what, int rank, int thread, const std::string& name);

}  // namespace weft::library
