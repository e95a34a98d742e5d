// weft schwarz as a whole program.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::ProgramResult;
using weft::tests::report_of;
using weft::tests::run_weft;

using Arguments = std::vector<std::string>;

/// q, m, overlap and alpha as arguments.
Arguments problem(int q, int m, int overlap, const std::string& alpha) {
  return {"--subdomains", std::to_string(q),       "--points", std::to_string(m),
          "--overlap",    std::to_string(overlap), "--alpha",  alpha};
}

ProgramResult run(int ranks, Arguments arguments, int threads = 1) {
  arguments.insert(arguments.begin(), "schwarz");
  arguments.insert(arguments.end(), {"--threads", std::to_string(threads), "--json", "-"});
  return run_weft(ranks, arguments);
}

/// The report of a run that converged, checked.
json converged(int ranks, const Arguments& arguments, int threads = 1) {
  const auto result = run(ranks, arguments, threads);
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  CHECK(report.value("command", "") == "schwarz");
  CHECK(report.value("status", "") == "converged");
  const double tolerance = report["schwarz"].value("tolerance", 0.0);
  CHECK(report.value("relative_residual", 1.0) < tolerance);
  CHECK(report["schwarz"].value("worst_subdomain_residual", 1.0) < tolerance);
  return report;
}

std::int64_t iterations(const json& report) { return report["iterations"].get<std::int64_t>(); }

void check_refused(int ranks, Arguments arguments, const std::string& message) {
  arguments.insert(arguments.begin(), "schwarz");
  std::string shown;
  for (const std::string& argument : arguments) shown += argument + " ";
  const auto result = run_weft(ranks, arguments);
  INFO(ranks << " ranks: " << shown << "\n" << result.errors);
  CHECK(result.exit_code == 2);
  CHECK(result.output.empty());
  CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
  CHECK(result.errors.find(message) != std::string::npos);
  CHECK(result.errors.find("expected") != std::string::npos);
}

}  // namespace

TEST_CASE("synchronous iterations take the known number of iterations on any ranks and threads") {
  // From an independent program.
  CHECK(iterations(converged(2, problem(12, 64, 1, "0.009"))) == 150);
  for (const int ranks : {1, 2, 3, 4}) {
    CAPTURE(ranks);
    CHECK(iterations(converged(ranks, problem(4, 16, 1, "0.05"), 2)) == 27);
    CHECK(iterations(converged(ranks, problem(3, 16, 2, "0.08"))) == 20);
    const std::string solver = ranks % 2 == 0 ? "cholmod" : "tensor";
    Arguments arguments = problem(4, 12, 3, "inf");
    arguments.insert(arguments.end(), {"--local-solver", solver});
    const json report = converged(ranks, arguments);
    CHECK(iterations(report) == 96);
    CHECK(report["schwarz"]["local_solver"] == solver);
  }
  CHECK(iterations(converged(8, problem(6, 16, 1, "0.03"))) == 59);
}

TEST_CASE("waiting for one neighbour after the other changes nothing") {
  for (const std::string mode : {"vector", "overlap", "task"}) {
    Arguments in_turn = problem(4, 16, 1, "0.05");
    in_turn.insert(in_turn.end(), {"--wait", "wait", "--mode", mode});
    const json report = converged(3, in_turn);
    CHECK(iterations(report) == 27);
    CHECK(report["schwarz"]["wait"] == "wait");
    in_turn.insert(in_turn.end(), {"--transport", "shared"});
    if (mode != "overlap")
      check_refused(3, in_turn, "--wait: found wait with --variant sync, --transport shared");
  }
}

TEST_CASE("two levels take the known number of iterations on any ranks and threads") {
  const auto two_levels = [](Arguments arguments) {
    arguments.insert(arguments.end(), {"--coarse", "linear"});
    return arguments;
  };
  // From an independent program.
  for (const int ranks : {1, 3}) {
    CAPTURE(ranks);
    CHECK(iterations(converged(ranks, two_levels(problem(4, 16, 1, "0.15")), 2)) == 18);
    const json report = converged(ranks, two_levels(problem(8, 8, 2, "0.3")));
    CHECK(iterations(report) == 15);
    CHECK(report["schwarz"]["coarse_unknowns"] == 49);
  }
  Arguments without_waiting = two_levels(problem(6, 16, 1, "0.12"));
  without_waiting.insert(without_waiting.end(), {"--variant", "async", "--inject", "slow:1:3"});
  CHECK(converged(3, without_waiting)["schwarz"]["corrections"]["min"] > 0);
  check_refused(2, two_levels(problem(4, 1, 0, "inf")), "--coarse: found linear");
}

TEST_CASE("a report has the problem, the method and where the time went") {
  Arguments arguments = problem(3, 5, 1, "0.1");
  arguments.insert(arguments.end(), {"--rhs", "x-random:3", "--mode", "overlap"});
  const json report = converged(2, arguments);
  CHECK(report["problem"]["name"] == "poisson2d:15");
  CHECK(report["problem"]["rows"] == 225);
  CHECK(report["problem"]["nonzeros"] == 5 * 225 - 4 * 15);
  CHECK(report["problem"]["right_hand_side"] == "x-random:3");
  CHECK(report["mode"] == "overlap");
  const json& run = report["schwarz"];
  CHECK(run["subdomains"] == 3);
  CHECK(run["points"] == 5);
  CHECK(run["subdomains_per_rank"]["max"] == 5);
  CHECK(run["history"].size() == run["iterations"]["max"].get<std::size_t>() + 1);
  REQUIRE(run["local_history"].size() == 2);
  CHECK(run["local_history"][1]["rank"] == 1);
  CHECK(run["local_history"][1]["points"].size() == run["history"].size());
  for (const std::string part : {"solve", "update", "exchange", "reduction"})
    CHECK(run["times"][part]["mean"] >= 0.0);
}

TEST_CASE("alpha is chosen where none is given, and a search finds none that is worse") {
  const Arguments plain{"--subdomains", "6", "--points", "16"};
  const json by_theory = converged(2, plain);
  CHECK(by_theory["schwarz"]["alpha_choice"] == "auto");
  CHECK(iterations(by_theory) < 80);
  Arguments search = plain;
  search.insert(search.end(), {"--alpha", "search"});
  const json found = converged(2, search);
  CHECK(found["schwarz"]["alpha_trials"].size() == 8);
  CHECK(iterations(found) <= iterations(by_theory));
}

TEST_CASE("a study runs every alpha") {
  const auto result = run_weft(2, {"study", "alpha", "--subdomains", "4", "--points", "12",
                                   "--values", "0.02,0.06,0.5", "--threads", "1", "--json", "-"});
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  const json& runs = report["study"]["runs"];
  CHECK(runs.size() == 3);
  for (const json& one : runs) CHECK(one["status"] == "converged");
  CHECK(runs[1]["iterations"]["min"] < runs[2]["iterations"]["min"]);
  CHECK(report["study"]["by_theory"] > 0.0);
  const auto table = run_weft(1, {"study", "alpha", "--subdomains", "2", "--points", "6"});
  CHECK(table.exit_code == 0);
  CHECK(std::count(table.output.begin(), table.output.end(), '\n') >= 14);
  const auto refused = run_weft(1, {"study", "alpha", "--subdomains", "1", "--points", "6"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.errors.find("expected --values") != std::string::npos);
}

TEST_CASE("asynchronously, every transport comes to the true residual") {
  for (const std::string transport : {"two-sided", "one-sided:flush", "one-sided:flush-local",
                                      "one-sided:overlap", "one-sided", "shared"}) {
    CAPTURE(transport);
    Arguments arguments = problem(4, 12, 1, "0.06");
    arguments.insert(arguments.end(), {"--variant", "async", "--transport", transport});
    const json report = converged(2, arguments);
    const json& asynchrony = report["schwarz"]["asynchrony"];
    CHECK(asynchrony["sent"] == asynchrony["received"]);
    CHECK(asynchrony["detection"]["fired"] > 0);
  }
  Arguments slow = problem(2, 16, 1, "0.1");
  slow.insert(slow.end(), {"--variant", "async", "--detector", "flags", "--inject", "slow:1:4"});
  CHECK(converged(4, slow)["schwarz"]["times"]["injected"]["max"] > 0.0);
}

TEST_CASE("a run may last for a fixed time") {
  for (const std::string variant : {"sync", "async"}) {
    Arguments arguments = problem(4, 12, 1, "0.06");
    // A tolerance that is met at once.
    arguments.insert(arguments.end(),
                     {"--variant", variant, "--seconds", "0.5", "--tolerance", "1e9"});
    const json report = converged(2, arguments);
    CHECK(report["schwarz"]["fixed_seconds"] == 0.5);
    CHECK(report["schwarz"]["iterations"]["max"] > 0);
  }
}

TEST_CASE("too few iterations are a result") {
  Arguments arguments = problem(3, 5, 1, "0.1");
  arguments.insert(arguments.end(), {"--max-iterations", "4"});
  const auto result = run(2, arguments);
  CHECK(result.exit_code == 3);
  CHECK(iterations(report_of(result)) == 4);
}

TEST_CASE("what makes no problem is refused in one line") {
  int next = 1;
  const auto refused = [&](const Arguments& arguments, const std::string& message) {
    check_refused(next, arguments, message);
    next = 3 - next;
  };
  refused({"--points", "4", "--alpha", "1"}, "--subdomains");
  refused(problem(0, 4, 1, "1"), "--subdomains");
  refused(problem(2, 4, 4, "1"), "overlap: found 4 with 4 points per side");
  refused(problem(2, 4, 1, "0"), "--alpha: found '0'");
  refused(problem(2, 4, 1, "soft"), "--alpha: found 'soft'");
  refused(problem(3, 8, 1, "1e-17"), "expected a larger alpha");
  Arguments file = problem(2, 4, 1, "1");
  file.insert(file.end(), {"--rhs", "b.mtx"});
  refused(file, "--rhs: found a file");
  Arguments puts = problem(2, 4, 1, "1");
  puts.insert(puts.end(), {"--transport", "shared", "--mode", "overlap"});
  refused(puts, "--mode: found overlap");
  Arguments faults = problem(2, 4, 1, "1");
  faults.insert(faults.end(), {"--inject", "slow:9:2"});
  refused(faults, "--inject: found rank 9");
  check_refused(2, {"--subdomains", "1", "--points", "4"}, "1 x 1 for 2 ranks");
}
