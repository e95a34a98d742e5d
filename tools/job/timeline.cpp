#include "tools/job/timeline.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/clock_offset.h"
#include "library/measure/trace_lines.h"
#include "spmv/files/matrix_market_output.h"

namespace weft::tools {
namespace {

using perfmodel::ThreadTrace;

constexpr std::size_t events_per_thread = 1 << 16;

}  // namespace

Timeline::Timeline(Job& job, std::string path) : job_(job), path_(std::move(path)) {
  if (path_.empty()) return;
  spmv::collective_check_writable(job_.world(), path_);
  trace_ = std::make_unique<library::JobTrace>(job_, events_per_thread);
}

void Timeline::collective_start() {
  if (!trace_) return;
  const std::int64_t offset = comm_thread::collective_clock_offset_ns(job_.world());
  std::array<std::int64_t, 1> zero{ThreadTrace::now()};
  job_.world().broadcast(zero, 0);
  zero_ns_ = zero[0] - offset;
  trace_->start();
}

void Timeline::collective_write(Json& report) {
  if (!trace_) return;
  trace_->stop();
  const int rank = job_.world().rank();
  std::vector<std::string> names{
      library::trace_metadata("process_name", rank, 0, fmt::format("rank {}", rank))};
  std::vector<std::vector<ThreadTrace::Event>> events;
  std::vector<library::TraceLine> lines;
  std::int64_t overwritten = 0;
  for (std::size_t thread = 0; thread < trace_->thread_count(); ++thread) {
    const int number = static_cast<int>(thread);
    names.push_back(
        library::trace_metadata("thread_name", rank, number, trace_->thread_name(thread)));
    events.push_back(trace_->thread(thread).events_by_begin());
    const auto more = library::trace_lines(events.back(), number);
    lines.insert(lines.end(), more.begin(), more.end());
    overwritten += static_cast<std::int64_t>(trace_->thread(thread).dropped_count());
  }
  const auto name_count = std::ssize(names);
  const bool is_last = rank + 1 == job_.world().size();
  spmv::TextItems items;
  items.header =
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":0,\"args\":{\"sort_index\":0}}";
  items.count = name_count + std::ssize(lines) + (is_last ? 1 : 0);
  items.append = [&](std::int64_t item, std::string& text) {
    if (item < name_count)
      text += names[static_cast<std::size_t>(item)];
    else if (item - name_count < std::ssize(lines))
      library::append_trace_line(text, lines[static_cast<std::size_t>(item - name_count)], rank,
                                 zero_ns_);
    else
      text += "\n]}\n";
  };
  spmv::collective_write_text(job_.world(), path_, items);
  report["trace"] = {{"file", path_},
                     {"events", job_.world().sum(std::ssize(lines))},
                     {"overwritten", job_.world().sum(overwritten)}};
}

void print_trace(const Json& report) {
  if (!report.contains("trace")) return;
  const Json& trace = report["trace"];
  fmt::print("\ntrace {}: {} events", trace["file"], trace["events"]);
  if (const auto lost = trace["overwritten"].get<std::int64_t>(); lost > 0)
    fmt::print("; {} older ones were overwritten", lost);
  fmt::print("\n");
}

}  // namespace weft::tools
