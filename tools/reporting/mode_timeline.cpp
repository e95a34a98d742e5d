#include "tools/reporting/mode_timeline.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm_thread/mpi/clock_offset.h"
#include "library/measure/job_trace.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "perfmodel/thread_trace.h"

namespace weft::tools {
namespace {

using comm_thread::TeamThread;
using perfmodel::ThreadTrace;
using Limits = std::numeric_limits<std::int64_t>;

constexpr std::size_t events_per_thread = 1 << 14;
constexpr std::size_t product_count = 7;

/// From when to when, by the clock of this rank.
struct Window {
  std::int64_t begin_ns;
  std::int64_t end_ns;
};

/// Records several products and returns the window of one with the median duration. Collective.
Window collective_record(const Job& job, spmv::LinearOperator& op, spmv::Mode mode,
                         library::JobTrace& trace) {
  const auto x = op.collective_make_operand();
  perfmodel::HugePageBuffer<double> y(op.element_count());
  perfmodel::PhaseTimer timer;
  // A product begins when the first thread leaves the barrier: no thread is still in the previous
  // one.
  std::array<std::int64_t, product_count + 1> begins_ns{};
  begins_ns.fill(Limits::max());
  std::mutex mutex;
  trace.start();
  job.world().barrier();
  op.team().run([&](const TeamThread& thread) {
    std::array<std::int64_t, product_count + 1> own_ns{};
    for (std::int64_t& begin_ns : own_ns) {
      thread.barrier();
      begin_ns = ThreadTrace::now();
      timer.start(thread.index);
      op.apply(thread, mode, *x, y.data(), timer, {});
    }
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < own_ns.size(); ++i)
      begins_ns[i] = std::min(begins_ns[i], own_ns[i]);
  });
  trace.stop();
  std::vector<std::pair<std::int64_t, std::size_t>> durations;  // of the slowest rank
  for (std::size_t i = 0; i < product_count; ++i)
    durations.emplace_back(job.world().max(begins_ns[i + 1] - begins_ns[i]), i);
  std::ranges::sort(durations);
  const std::size_t shown = durations[product_count / 2].second;
  return {begins_ns[shown], begins_ns[shown + 1]};
}

/// In seconds since `zero_ns`.
Json event_report(const ThreadTrace::Event& event, std::int64_t zero_ns) {
  return {{"name", event.name},
          {"begin_seconds", 1e-9 * static_cast<double>(event.begin_ns - zero_ns)},
          {"end_seconds", 1e-9 * static_cast<double>(event.end_ns - zero_ns)}};
}

/// True if the event is a phase rather than a wait within one.
bool is_phase(const ThreadTrace::Event& event) {
  for (std::size_t i = 0; i < perfmodel::phase_count; ++i)
    if (perfmodel::name(static_cast<perfmodel::Phase>(i)) == std::string_view(event.name))
      return true;
  return false;
}

Json thread_report(const library::JobTrace& trace, std::size_t thread, const Window& window,
                   std::int64_t zero_ns) {
  Json events = Json::array();
  Json messages = Json::array();
  for (const ThreadTrace::Event& event : trace.thread(thread).events_by_begin()) {
    if (event.begin_ns < window.begin_ns || event.begin_ns >= window.end_ns) continue;
    const bool is_exchange = event.kind == ThreadTrace::Kind::overlapping;
    if (!is_exchange && !is_phase(event)) continue;
    Json& list = is_exchange && trace.is_compute_thread(thread) ? messages : events;
    list.push_back(event_report(event, zero_ns));
  }
  return {{"name", trace.thread_name(thread)},
          {"events", std::move(events)},
          {"messages", std::move(messages)}};
}

}  // namespace

Json collective_mode_timeline(Job& job, spmv::LinearOperator& op, spmv::Mode mode) {
  const auto& world = job.world();
  const bool is_shown = job.is_root() || world.rank() == world.size() / 2;
  const std::int64_t offset = comm_thread::collective_clock_offset_ns(world);
  library::JobTrace trace(job, events_per_thread);
  const Window window = collective_record(job, op, mode, trace);
  const std::int64_t begin = world.min(is_shown ? window.begin_ns + offset : Limits::max());
  const std::int64_t end = world.max(is_shown ? window.end_ns + offset : Limits::min());
  Json own;
  if (is_shown) {
    own["rank"] = world.rank();
    own["threads"] = Json::array();
    for (std::size_t thread = 0; thread < trace.thread_count(); ++thread)
      own["threads"].push_back(thread_report(trace, thread, window, begin - offset));
  }
  Json ranks = Json::array();
  for (const std::string& text : world.gather(is_shown ? own.dump() : ""))
    if (!text.empty()) ranks.push_back(Json::parse(text));
  return {{"seconds", 1e-9 * static_cast<double>(end - begin)}, {"ranks", std::move(ranks)}};
}

}  // namespace weft::tools
