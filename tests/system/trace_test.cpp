// --trace of every solver: a file that a viewer can read, with what every thread did.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::read_file;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

using Track = std::pair<int, int>;  // rank, thread

/// The file that a run writes, parsed.
json trace_of(int ranks, std::vector<std::string> arguments) {
  const ScratchFolder folder;
  const auto file = folder.path("trace.json");
  arguments.insert(arguments.end(), {"--trace", file, "--json", "-"});
  const auto result = run_weft(ranks, arguments);
  CHECK(result.exit_code == 0);
  const json trace = json::parse(read_file(file), nullptr, false);
  CHECK_FALSE(trace.is_discarded());
  const json report = report_of(result);
  std::size_t count = 0;
  for (const json& event : trace["traceEvents"]) count += event.value("ph", "") != "M";
  CHECK(report["trace"].value("events", std::size_t{0}) == count);
  return trace;
}

Track track_of(const json& event) { return {event.value("pid", -1), event.value("tid", -1)}; }

/// Times never decrease within a thread, and spans are nested or disjoint.
void check_times(const json& trace) {
  constexpr double rounding = 0.0015;  // microseconds
  std::map<Track, double> last;
  std::map<Track, std::vector<double>> open;  // ends of the spans around
  for (const json& event : trace["traceEvents"]) {
    const std::string phase = event.value("ph", "");
    if (phase == "M") continue;
    const Track track = track_of(event);
    const double begin = event.value("ts", -1.0);
    CHECK(begin >= last[track]);
    last[track] = begin;
    if (phase != "X") continue;
    const double end = begin + event.value("dur", -1.0);
    auto& around = open[track];
    while (!around.empty() && around.back() <= begin + rounding) around.pop_back();
    if (!around.empty()) CHECK(end <= around.back() + rounding);
    around.push_back(end);
  }
}

/// The names of what each thread did.
std::map<Track, std::set<std::string>> names_of(const json& trace) {
  std::map<Track, std::set<std::string>> names;
  for (const json& event : trace["traceEvents"])
    if (event.value("ph", "") != "M") names[track_of(event)].insert(event.value("name", ""));
  return names;
}

std::set<std::string> thread_names(const json& trace) {
  std::set<std::string> names;
  for (const json& event : trace["traceEvents"])
    if (event.value("name", "") == "thread_name")
      names.insert(std::to_string(event.value("pid", -1)) + " " + event["args"].value("name", ""));
  return names;
}

}  // namespace

TEST_CASE("a solve shows the phases of every compute thread and the messages between ranks") {
  const json trace =
      trace_of(2, {"solve", "poisson3d:12", "--threads", "2", "--max-iterations", "30"});
  check_times(trace);
  CHECK(thread_names(trace) == std::set<std::string>{"0 compute thread 0", "0 compute thread 1",
                                                     "0 communication thread", "1 compute thread 0",
                                                     "1 compute thread 1",
                                                     "1 communication thread"});
  auto names = names_of(trace);
  for (const int rank : {0, 1}) {
    for (const int thread : {0, 1})
      for (const char* const phase :
           {"pack", "local_part", "halo_wait", "boundary_part", "reduction", "vector_update"}) {
        INFO("rank " << rank << " thread " << thread << " " << phase);
        CHECK(names[{rank, thread}].contains(phase));
      }
    for (const char* const what : {"halo exchange", "all-reduce", "sent to", "received from"}) {
      INFO("communication thread of rank " << rank << " " << what);
      CHECK(names[{rank, 2}].contains(what));
    }
  }
}

TEST_CASE("sweeps, synchronous or not, have a timeline") {
  for (const char* const variant : {"sync", "async", "racy"}) {
    INFO(variant);
    const json trace = trace_of(2, {"jacobi", "--grid", "12", "--variant", variant, "--threads",
                                    "1", "--tolerance", "1e-2"});
    check_times(trace);
    auto names = names_of(trace);
    for (const int rank : {0, 1}) {
      CHECK(names[{rank, 0}].contains("sweep"));
      CHECK(names[{rank, 0}].contains("pack"));
      CHECK(names[{rank, 1}].contains("received from"));
    }
  }
}

TEST_CASE("schwarz and spmv have one too") {
  const json schwarz =
      trace_of(2, {"schwarz", "--subdomains", "2", "--points", "8", "--threads", "1"});
  check_times(schwarz);
  CHECK(names_of(schwarz)[{1, 0}].contains("sweep"));
  const json spmv = trace_of(2, {"spmv", "poisson3d:12", "--repetitions", "2", "--threads", "1"});
  check_times(spmv);
  CHECK(names_of(spmv)[{1, 0}].contains("local_part"));
}

TEST_CASE("a trace that cannot be written is bad input") {
  const auto result = run_weft(
      2, {"solve", "poisson3d:4", "--threads", "1", "--trace", "/no/such/folder/trace.json"});
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.errors, Catch::Contains("/no/such/folder/trace.json"));
}

TEST_CASE("a trace is none of the solution's business") {
  const ScratchFolder folder;
  std::vector<std::string> solutions;
  for (const bool traces : {false, true}) {
    std::vector<std::string> arguments{"solve", "poisson3d:10", "--threads",
                                       "2",     "--solution",   folder.path("x.mtx")};
    if (traces) arguments.insert(arguments.end(), {"--trace", folder.path("t.json.gz")});
    CHECK(run_weft(2, arguments).exit_code == 0);
    solutions.push_back(read_file(folder.path("x.mtx")));
  }
  CHECK(solutions[0] == solutions[1]);
}
