// weft compare and weft study cg as whole programs.
#include <cstdlib>
#include <set>
#include <string>
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

json compared(int ranks, const std::vector<std::string>& more, int threads = 1) {
  std::vector<std::string> arguments{
      "compare", "--repetitions", "2", "--threads", std::to_string(threads), "--json", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return report_of(run_weft(ranks, arguments));
}

TEST_CASE("every problem is compared in every mode, with a prediction and the same bits") {
  const json report = compared(2, {"poisson3d:12", "irregular:2000"});
  CHECK(report.value("bits_equal", false));
  REQUIRE(report["configurations"].size() == 2);
  CHECK(report["configurations"][1]["problem"].get<std::string>().starts_with("irregular:2000"));
  for (const json& configuration : report["configurations"]) {
    CHECK(configuration["ranks"] == 2);
    REQUIRE(configuration["modes"].size() == 4);
    for (const json& mode : configuration["modes"]) {
      CHECK(mode["seconds"].get<double>() > 0);
      CHECK(mode["predicted_seconds"].get<double>() > 0);
      const double hidden = mode["hidden_fraction"].get<double>();
      CHECK(hidden >= 0);
      CHECK(hidden <= 1);
    }
  }
  // A plane of 12 x 12 points each way.
  const json costs = report["configurations"][0]["costs"];
  CHECK(costs["halo_bytes"] == 12 * 12 * 8);
  CHECK(costs["messages"] == 1);
}

/// Events of one thread lie within the product, one after the other.
void check_events(const json& events, double seconds) {
  double last = 0;
  for (const json& event : events) {
    INFO(event.dump());
    CHECK(event["begin_seconds"].get<double>() >= last);
    CHECK(event["end_seconds"].get<double>() >= event["begin_seconds"].get<double>());
    last = event["end_seconds"].get<double>();
  }
  CHECK(last <= seconds);
}

std::set<std::string> names_of(const json& events) {
  std::set<std::string> names;
  for (const json& event : events) names.insert(event["name"].get<std::string>());
  return names;
}

TEST_CASE("a timeline shows one product in each mode, by every thread of two ranks") {
  const json report = compared(3, {"poisson3d:12"}, 2);
  for (const auto& [mode, times] : report["configurations"][0]["modes"].items()) {
    const json timeline = times["timeline"];
    REQUIRE(timeline["ranks"].size() == 2);
    CHECK(timeline["ranks"][0]["rank"] == 0);
    CHECK(timeline["ranks"][1]["rank"] == 1);
    for (const json& rank : timeline["ranks"]) {
      REQUIRE(rank["threads"].size() == 3);
      for (const json& thread : rank["threads"]) {
        INFO(mode << " mode, rank " << rank["rank"] << ", " << thread["name"]);
        check_events(thread["events"], timeline["seconds"].get<double>());
        check_events(thread["messages"], timeline["seconds"].get<double>());
      }
      const std::set<std::string> phases =
          mode == "vector"
              ? std::set<std::string>{"pack", "halo_wait", "local_part"}
              : std::set<std::string>{"pack", "halo_wait", "local_part", "boundary_part"};
      for (const std::size_t thread : {0UL, 1UL})
        CHECK(names_of(rank["threads"][thread]["events"]) == phases);
      const json& carrier = rank["threads"][2];
      CHECK(carrier["name"] == "communication thread");
      const std::set<std::string> exchange{"halo exchange"};
      const bool is_task = mode == "task";
      CHECK(names_of(carrier["events"]) == (is_task ? exchange : std::set<std::string>{}));
      CHECK(names_of(rank["threads"][0]["messages"]) ==
            (is_task ? std::set<std::string>{} : exchange));
    }
  }
}

TEST_CASE("the page shows what every thread did in one product") {
  const ScratchFolder folder;
  const std::string page = folder.path("page.html");
  const json report = compared(2, {"poisson3d:12"});
  const std::string command = "tests/system/report_script " +
                              folder.write("modes.json", report.dump()) + " " + page +
                              " --pictures " + folder.path("pictures");
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string text = read_file(page);
  for (const char* const part : {"poisson3d:12, 2 × 1, task mode", "time since the product began",
                                 "rank 1  communication thread", "halo exchange by the"}) {
    INFO(part);
    CHECK(text.find(std::string(">") + part) != std::string::npos);
  }
  for (const char* const name : {"times", "phases", "product-poisson3d-12-2-1", "roofline"}) {
    INFO(name);
    CHECK(read_file(folder.path("pictures/") + name + ".svg").find("</svg>") != std::string::npos);
  }
}

TEST_CASE("the page concludes by how much the quickest mode beats vector mode, if it does") {
  struct Outcome {
    double vector, overlap, task, spread;
    std::string sentence;
  };
  json report = compared(2, {"poisson3d:12", "--modes", "vector,overlap,task"});
  for (const Outcome& outcome : {
           Outcome{2e-3, 5e-3, 1e-3, 1e-4,
                   "task mode is the quickest, 2.00 times as fast as vector mode"},
           {2e-3, 5e-3, 1e-3, 2e-3, "the modes take the same time within the spread"},
           {1e-3, 4e-3, 2e-3, 1e-4,
            "vector mode is the quickest, 4.00 times as fast as overlap mode"},
       }) {
    json& modes = report["configurations"][0]["modes"];
    modes["vector"]["seconds"] = outcome.vector;
    modes["overlap"]["seconds"] = outcome.overlap;
    modes["task"]["seconds"] = outcome.task;
    for (json& times : modes) times["spread"] = outcome.spread;
    const ScratchFolder folder;
    const std::string page = folder.path("page.html");
    const std::string command =
        "tests/system/report_script " + folder.write("modes.json", report.dump()) + " " + page;
    REQUIRE(std::system(command.c_str()) == 0);
    INFO(outcome.sentence);
    CHECK(read_file(page).find("2 × 1: " + outcome.sentence) != std::string::npos);
  }
}

TEST_CASE("one rank has nothing to hide") {
  const json report = compared(1, {"poisson3d:12", "--operator", "stencil", "--modes", "task"});
  const json modes = report["configurations"][0]["modes"];
  REQUIRE(modes.size() == 1);
  CHECK(modes["task"]["hidden_fraction"].is_null());
}

TEST_CASE("the variants of CG are studied in every mode, beside a textbook's loops") {
  const json report =
      report_of(run_weft(2, {"study", "cg", "poisson3d:12", "--iterations", "5", "--repetitions",
                             "1", "--threads", "1", "--json", "-"}));
  REQUIRE(report["study"]["problems"].size() == 1);
  const json study = report["study"]["problems"][0];
  CHECK(study["textbook_seconds_per_iteration"].get<double>() > 0);
  REQUIRE(study["runs"].size() == 4 * 4);
  const double expected = study["runs"][0]["relative_residual"].get<double>();
  for (const json& run : study["runs"]) {
    CHECK(run["seconds_per_iteration"].get<double>() > 0);
    CHECK(run["relative_residual"].get<double>() == Approx(expected));
  }
}

TEST_CASE("a matrix without a stencil is studied as it is stored") {
  const ScratchFolder folder;
  const std::string file = folder.path("a.npz");
  CHECK(run_weft(1, {"generate", "poisson2d:9", file}).exit_code == 0);
  const auto result =
      run_weft(1, {"study", "cg", file, "poisson3d:5", "--methods", "cg", "--modes", "task",
                   "--iterations", "2", "--repetitions", "1", "--threads", "1", "--json", "-"});
  CHECK(result.exit_code == 0);
  const json problems = report_of(result)["study"]["problems"];
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].value("operator", "").find("no matrix") == std::string::npos);
  CHECK(problems[1].value("operator", "").find("no matrix") != std::string::npos);
}

TEST_CASE("compare refuses what it does not know") {
  CHECK(run_weft(2, {"compare", "poisson3d:12", "--modes", "fast"}).exit_code == 2);
  CHECK(run_weft(2, {"compare"}).exit_code == 2);
}

}  // namespace
