// weft eigen --start: searches that begin with vectors of a file.
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

/// The report of a search for four values of a grid.
json found_with(int ranks, std::vector<std::string> more) {
  std::vector<std::string> words{"eigen", "poisson2d:60", "--count", "4", "--threads",
                                 "1",     "--json",       "-"};
  words.insert(words.end(), more.begin(), more.end());
  const auto result = run_weft(ranks, words);
  REQUIRE(result.exit_code == 0);
  return report_of(result)["eigenvalues"];
}

}  // namespace

TEST_CASE("a search that begins with its vectors takes fewer products, on any ranks the same") {
  const ScratchFolder folder;
  const std::string path = folder.path("x.npy");
  for (const std::string method : {"lanczos", "lobpcg"}) {
    const json before = found_with(1, {"--method", method, "--vectors", path});
    std::set<std::string> reports;
    for (const int ranks : {1, 2, 3}) {
      const json after = found_with(ranks, {"--method", method, "--start", path});
      CHECK(after["products"].get<double>() < 0.7 * before["products"].get<double>());
      for (std::size_t i = 0; i < 4; ++i)
        CHECK(after["pairs"][i]["value"].get<double>() ==
              Approx(before["pairs"][i]["value"].get<double>()).epsilon(1e-7));
      reports.insert(after["pairs"].dump());
    }
    CHECK(reports.size() == 1);
  }
}

TEST_CASE("vectors that no search can begin with are one line") {
  const ScratchFolder folder;
  const std::string head = "%%MatrixMarket matrix array real general\n";
  const std::string ones = folder.write("ones.mtx", head + "4 1\n1\n1\n1\n1\n");
  std::string zeros = head + "3600 1\n";
  for (int row = 0; row < 3600; ++row) zeros += "0\n";
  const std::string zero = folder.write("zero.mtx", zeros);
  struct Case {
    std::vector<std::string> options;
    std::string error;
  };
  for (const auto& [options, error] : std::vector<Case>{
           {{"--start", ones}, "found 4 rows and 1 columns; expected 3600 rows and 1 to 4 columns"},
           {{"--start", zero}, "--start: found a vector of zeros; expected another"},
           {{"--start", zero, "--which", "near:3"},
            "--start: found with --method filter; expected --method lanczos or lobpcg"},
           {{"--start", zero, "--which", "both"},
            "--start: found with --which both; expected --method lanczos or lobpcg"},
           {{"--start", zero, "--order", "rcm"},
            "--start: found rows in another order; expected --order given"}}) {
    CAPTURE(error);
    std::vector<std::string> words{"eigen", "poisson2d:60", "--count", "4", "--threads", "1"};
    words.insert(words.end(), options.begin(), options.end());
    const auto result = run_weft(2, words);
    CHECK(result.exit_code == 2);
    CHECK(result.errors.find(error) != std::string::npos);
  }
}
