// --order and --partition metis: the same system in another order.
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"
#include "tests/system/reference_matrix.h"

namespace {

using weft::tests::fingerprint;
using weft::tests::read_file;
using weft::tests::read_vector_file;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

const std::string problem = "irregular:3000,nnzr=7,bandwidth=2999";

/// Solves and leaves x in `path`; the report.
nlohmann::json solve(int ranks, const std::string& path, std::vector<std::string> options) {
  options.insert(options.begin(), {"solve", problem, "--threads", "1", "--tolerance", "1e-12",
                                   "--solution", path, "--json", "-"});
  const auto result = run_weft(ranks, options);
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  return report_of(result);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

TEST_CASE("in another order the solution is that of the rows as given") {
  const ScratchFolder folder;
  solve(1, folder.path("given.mtx"), {});
  const auto given = read_vector_file(folder.path("given.mtx"));
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--order", "rcm"},
                                                  {"--partition", "metis"},
                                                  {"--order", "rcm", "--partition", "metis"}}) {
    const auto report = solve(2, folder.path("x.mtx"), options);
    CHECK(largest_difference(read_vector_file(folder.path("x.mtx")), given) < 1e-9);
    const auto& ordering = report["ordering"];
    CHECK(ordering["halo_bytes"].get<double>() <= ordering["halo_bytes_given"].get<double>());
    CHECK(ordering["bandwidth_given"].get<int>() > 0);
  }
}

TEST_CASE("in the reverse Cuthill-McKee order the solution has the same bits on all ranks") {
  const ScratchFolder folder;
  std::vector<std::string> found;
  for (const int ranks : {1, 2, 3}) {
    solve(ranks, folder.path("x.mtx"), {"--order", "rcm", "--partition", "nonzeros"});
    found.push_back(fingerprint(read_file(folder.path("x.mtx"))));
  }
  CHECK(found[1] == found[0]);
  CHECK(found[2] == found[0]);
}

TEST_CASE("a reordered matrix can be written, for any number of ranks alike") {
  const ScratchFolder folder;
  for (const int ranks : {1, 2})
    CHECK(run_weft(ranks, {"generate", problem, folder.path(std::to_string(ranks) + ".mtx"),
                           "--order", "rcm"})
              .exit_code == 0);
  CHECK(read_file(folder.path("1.mtx")) == read_file(folder.path("2.mtx")));
  const auto refused =
      run_weft(2, {"generate", problem, folder.path("3.mtx"), "--partition", "metis"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.errors.find("depends on the ranks") != std::string::npos);
}

TEST_CASE(
    "rows of a file are in the order that pays, unless the given one is needed or asked for") {
  const ScratchFolder folder;
  const std::string file = folder.path("far.mtx");
  CHECK(run_weft(1, {"generate", "irregular:20000,nnzr=3,bandwidth=19000", file}).exit_code == 0);
  const auto report = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), {file, "--json", "-"});
    words.insert(words.end(), more.begin(), more.end());
    return report_of(run_weft(1, words));
  };
  const std::vector<std::string> solve{"solve", "--method", "cg", "--max-iterations", "2"};
  for (const std::vector<std::string>& command :
       {solve, std::vector<std::string>{"spmv", "--repetitions", "1"}}) {
    CAPTURE(command.front());
    CHECK(report(command, {})["ordering"]["order"] == "rcm");
    CHECK_FALSE(report(command, {"--order", "given"}).contains("ordering"));
  }
  CHECK_FALSE(report(solve, {"--preconditioner", "amg", "--block-size", "1"}).contains("ordering"));
}

TEST_CASE("products in another order are timed, and a stencil has none") {
  const auto result = run_weft(2, {"spmv", "anderson3d:12", "--order", "rcm", "--partition",
                                   "metis", "--repetitions", "1", "--json", "-"});
  CHECK(result.exit_code == 0);
  CHECK(report_of(result)["ordering"]["partition"] == "metis");
  const auto refused =
      run_weft(2, {"solve", "poisson3d:8", "--operator", "stencil", "--order", "rcm"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.errors.find("expected --operator matrix") != std::string::npos);
}
