#include "tools/job/counters.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <fmt/format.h>

namespace weft::tools {
namespace {

using comm_thread::TeamThread;
using perfmodel::LikwidMarkers;

std::string why_not_counting() {
  const std::string reason = perfmodel::why_no_hardware_counters();
  return reason.empty() ? "not run under likwid-perfctr -m"
                        : "this machine gives none (" + reason + ")";
}

}  // namespace

Counters::Counters(const Job& job) : job_(job) {
  const char* const mode = std::getenv("LIKWID_MODE");
  const char* const events = std::getenv("LIKWID_EVENTS");
  if (!mode || !events) {
    missing_ = why_not_counting();
    return;
  }
  try {
    markers_ = std::make_unique<LikwidMarkers>(LikwidMarkers::usual_library);
  } catch (const std::exception& error) {
    missing_ = error.what();
    return;
  }
  events_ = perfmodel::event_names(events);
  job_.team().run([&](const TeamThread&) { markers_->start_thread(); });
}

Counters::~Counters() = default;

Json Counters::collective_report(const std::vector<std::string>& regions) const {
  Json report = {{"missing", nullptr}, {"regions", Json::array()}};
  if (!missing_.empty()) report["missing"] = missing_;
  if (job_.world().min(std::int64_t{is_counting()}) == 0) return report;
  for (const std::string& region : regions) {
    std::vector<LikwidMarkers::Counts> counts(static_cast<std::size_t>(job_.team().thread_count()));
    job_.team().run([&](const TeamThread& thread) {
      counts[static_cast<std::size_t>(thread.index)] = markers_->counts(region.c_str());
    });
    std::int64_t calls = 0;
    std::int64_t has_memory = 1;
    double bytes = 0;
    std::string zero_threads;
    for (std::size_t thread = 0; thread < counts.size(); ++thread) {
      calls = std::max<std::int64_t>(calls, counts[thread].calls);
      if (counts[thread].are_zero())
        zero_threads += fmt::format("{}rank {} thread {}", zero_threads.empty() ? "" : ", ",
                                    job_.world().rank(), thread);
      const double own = perfmodel::memory_bytes(events_, counts[thread].events);
      if (own < 0) has_memory = 0;
      bytes += std::max(0.0, own);
    }
    calls = job_.world().max(calls);
    has_memory = job_.world().min(has_memory);
    bytes = job_.world().sum(bytes);
    Json zero = Json::array();
    for (const std::string& text : job_.world().gather(zero_threads))
      if (!text.empty()) zero.push_back(text);
    if (calls == 0) continue;
    Json entry = {{"name", region}, {"calls", calls}, {"memory_bytes", nullptr}};
    if (has_memory > 0) entry["memory_bytes"] = bytes;
    entry["zero_threads"] = zero;
    report["regions"].push_back(entry);
  }
  return report;
}

std::string zero_counts_as_text(const Json& counters) {
  std::string text;
  for (const Json& region : counters["regions"])
    for (const Json& threads : region["zero_threads"])
      text +=
          fmt::format("error: region {}: no event was counted by {}\n", region["name"], threads);
  return text;
}

const std::vector<std::string>& solver_regions() {
  static const std::vector<std::string> names{"pack",          "local_part", "halo_wait",
                                              "boundary_part", "reduction",  "vector_update",
                                              "sweep",         "wait"};
  return names;
}

void collective_report_phases(const Job& job, const Counters& counters, Json& report) {
  if (job.world().min(std::int64_t{counters.is_counting()}) == 0) return;
  report["counters"] = counters.collective_report(solver_regions());
  if (job.is_root()) fmt::print(stderr, "{}", zero_counts_as_text(report["counters"]));
}

}  // namespace weft::tools
