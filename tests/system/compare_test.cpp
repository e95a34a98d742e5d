// weft compare and weft study cg as whole programs.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::report_of;
using weft::tests::run_weft;

json compared(int ranks, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"compare", "--repetitions", "2", "--threads",
                                     "1",       "--json",        "-"};
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
    REQUIRE(configuration["modes"].size() == 3);
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
  REQUIRE(study["runs"].size() == 4 * 3);
  const double expected = study["runs"][0]["relative_residual"].get<double>();
  for (const json& run : study["runs"]) {
    CHECK(run["seconds_per_iteration"].get<double>() > 0);
    CHECK(run["relative_residual"].get<double>() == Approx(expected));
  }
}

TEST_CASE("compare refuses what it does not know") {
  CHECK(run_weft(2, {"compare", "poisson3d:12", "--modes", "fast"}).exit_code == 2);
  CHECK(run_weft(2, {"compare"}).exit_code == 2);
}

}  // namespace
