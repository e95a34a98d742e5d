// weft solve --mode auto.
#include <algorithm>
#include <map>
#include <regex>
#include <string>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::report_of;
using weft::tests::run_weft;

json solve(int ranks, const std::string& problem, const std::string& mode) {
  const auto result =
      run_weft(ranks, {"solve", problem, "--mode", mode, "--threads", "1", "--json", "-"});
  CHECK(result.exit_code == 0);
  return report_of(result);
}

/// The milliseconds that a list such as "vector 0.1896, task 0.2128" after `title` says.
std::map<std::string, double> times_after(const std::string& title, const std::string& text) {
  std::map<std::string, double> times;
  const auto begin = text.find(title);
  if (begin == std::string::npos) return times;
  const std::string list = text.substr(begin, text.find(';', begin) - begin);
  const std::regex entry("(vector|overlap-test|overlap|task) ([0-9.]+)");
  for (auto it = std::sregex_iterator(list.begin(), list.end(), entry);
       it != std::sregex_iterator(); ++it)
    times[(*it)[1]] = std::stod((*it)[2]);
  return times;
}

}  // namespace

TEST_CASE("mode auto takes the quickest of the modes that the model finds alike") {
  for (const int ranks : {2, 3}) {
    const json report = solve(ranks, "poisson3d:24", "auto");
    const auto why = report.value("mode_choice", "");
    INFO(ranks << " ranks, " << why);
    const auto mode = report.value("mode", "");
    const auto predicted = times_after("the model predicts", why);
    CHECK(why.starts_with(mode));
    CHECK(predicted.size() == 4);
    double least_predicted = 1e300;
    for (const auto& [name, time] : predicted) least_predicted = std::min(least_predicted, time);
    const auto raced = times_after("the quickest in turn", why);
    for (const auto& [name, time] : raced) {
      INFO(name);
      CHECK(raced.at(mode) <= time);
      CHECK(predicted.at(name) <= 1.16 * least_predicted);
    }
    if (raced.empty()) CHECK(predicted.at(mode) == least_predicted);
    CHECK(report.value("relative_residual", 1.0) ==
          solve(ranks, "poisson3d:24", "vector").value("relative_residual", 0.0));
  }
}

TEST_CASE("mode auto on one rank takes vector mode") {
  const json report = solve(1, "poisson3d:12", "auto");
  CHECK(report.value("mode", "") == "vector");
  CHECK(report.value("mode_choice", "") == "one rank has nothing to hide");
}
