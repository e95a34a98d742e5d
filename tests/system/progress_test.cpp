// weft progress as a whole program.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::Environment;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

const std::vector<std::string> quick{"progress", "--sizes",   "4,2k", "--repetitions",
                                     "2",        "--threads", "1",    "--json"};
const std::set<std::string> all_operations{"isend-irecv", "put-flush", "all-reduce",
                                           "neighbour-exchange"};
const Environment with_progress_thread{{"MPIR_CVAR_ASYNC_PROGRESS", "1"}};

std::vector<std::string> quick_and(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = quick;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// Every operation × size has one complete row of `method`.
void check_rows(const json& report, const std::string& method) {
  INFO("method " << method);
  std::set<std::string> found;
  for (const json& row : report["overlap"]) {
    if (row.value("method", "") != method) continue;
    found.insert(row.value("operation", "") + " " + row["bytes"].dump());
    CHECK(row.value("overlap", json()).is_number());
    for (const char* const time : {"seconds_pure", "seconds_compute", "seconds_overlapped"})
      CHECK(row.value(time, 0.0) > 0);
  }
  std::set<std::string> expected;
  for (const std::string& operation : all_operations)
    for (const char* const bytes : {" 4", " 2000"}) expected.insert(operation + bytes);
  CHECK(found == expected);
}

/// Exit code 2 and one line with all of `parts` in it.
void check_refused(int ranks, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& parts) {
  const auto result = run_weft(ranks, arguments);
  INFO(result.errors);
  CHECK(result.exit_code == 2);
  CHECK(result.output == "");
  CHECK(result.errors.starts_with("weft: "));
  CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
  CHECK(result.errors.find("expected") != std::string::npos);
  for (const std::string& part : parts) {
    INFO("should contain: " << part);
    CHECK(result.errors.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("progress reports plain MPI and the communication thread for every operation and size") {
  for (const int ranks : {2, 3}) {
    INFO(ranks << " ranks");
    const auto result = run_weft(ranks, quick_and({"-"}));
    CHECK(result.exit_code == 0);
    const json report = report_of(result);
    CHECK(report.value("command", "") == "progress");
    CHECK(report.value("contents_correct", false));
    const double latency = report["performance"].value("latency_seconds", 0.0);
    const double least = report["performance"].value("least_latency_seconds", 0.0);
    CHECK(least > 0);
    CHECK(latency >= least);
    CHECK(report["performance"].value("bandwidth_bytes_per_second", 0.0) > 0);
    CHECK(report["overlap"].size() == 16);
    check_rows(report, "plain");
    check_rows(report, "communication-thread");
    CHECK(report["not_measured"].contains("mpi-progress-thread"));
    CHECK(report["verdict"].get<std::string>().starts_with("no verdict on large messages"));
    CHECK(report["placement"]["ranks"].size() == static_cast<std::size_t>(ranks));
  }
}

TEST_CASE("a run with MPICH's progress thread is merged into one without") {
  const ScratchFolder folder;
  const std::string first = folder.path("first.json");
  CHECK(run_weft(2, quick_and({first}), with_progress_thread).exit_code == 0);
  const json alone = json::parse(weft::tests::read_file(first), nullptr, false);
  CHECK(alone["overlap"].size() == 8);
  check_rows(alone, "mpi-progress-thread");
  CHECK(alone["not_measured"].contains("plain"));

  const auto merged = run_weft(2, quick_and({"-", "--merge", first}));
  CHECK(merged.exit_code == 0);
  const json report = report_of(merged);
  CHECK(report["overlap"].size() == 24);
  for (const char* const method : {"plain", "mpi-progress-thread", "communication-thread"})
    check_rows(report, method);
  CHECK(report["not_measured"].empty());
}

TEST_CASE("without a communication thread, progress says so") {
  const auto result = run_weft(2, quick_and({"-"}), {{"WEFT_THREAD_LEVEL", "serialized"}});
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  CHECK(report["overlap"].size() == 8);
  CHECK(report["not_measured"].value("communication-thread", "") ==
        "there is none: the MPI library gives MPI_THREAD_SERIALIZED");
}

TEST_CASE("the summary has a row for every operation and size, and a verdict") {
  const ScratchFolder folder;
  const auto result = run_weft(2, quick_and({folder.path("r.json"), "--no-progress-thread"}));
  CHECK(result.exit_code == 0);
  for (const std::string& operation : all_operations) {
    std::size_t rows = 0;
    for (std::size_t at = result.output.find("\n" + operation); at != std::string::npos;
         at = result.output.find("\n" + operation, at + 1))
      ++rows;
    CHECK(rows == 2);
  }
  CHECK(result.output.find("\nVerdict: no verdict") != std::string::npos);
  CHECK(result.output.find("mpi-progress-thread was not measured: not asked for") !=
        std::string::npos);
}

TEST_CASE("progress with one rank is refused") {
  check_refused(1, {"progress", "--threads", "1"}, {"needs at least 2 ranks", "found 1"});
}

TEST_CASE("sizes that cannot be measured are refused") {
  for (const char* const size : {"x", "0", "-4", "6", "2G", "4q", "1.5k"})
    check_refused(2, {"progress", "--sizes", std::string("4,") + size + ",8"},
                  {std::string("found '") + size + "'"});
  check_refused(2, {"progress", "--max-bytes", "y"}, {"--max-bytes: found 'y'"});
  check_refused(2, {"progress", "--sizes", "1M", "--max-bytes", "4"}, {"below all sizes"});
  check_refused(2, {"progress", "--repetitions", "0"}, {"--repetitions"});
}

TEST_CASE("a merge file that is something else is refused before anything is measured") {
  const ScratchFolder folder;
  const auto check = [&](const std::string& path, const std::string& part) {
    check_refused(2, {"progress", "--threads", "1", "--merge", path}, {path + ": ", part});
  };
  check(folder.path("missing.json"), "cannot be read");
  check(folder.write("text.json", "no JSON"), "found something else");
  check(folder.write("cut.json", "{\"overlap\": [{\"operation\":"), "found something else");
  check(folder.write("solve.json", "{\"command\": \"solve\"}"), "found something else");
  check(folder.write("row.json", "{\"overlap\": [{\"operation\": \"put-flush\"}]}"),
        "found something else");
  check(folder.write("plain.json",
                     "{\"overlap\": [{\"operation\": \"put-flush\", \"bytes\": 4, \"method\": "
                     "\"plain\", \"seconds_pure\": 1, \"seconds_compute\": 1, "
                     "\"seconds_overlapped\": 1}]}"),
        "found something else");
}
