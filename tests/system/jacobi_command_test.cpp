// weft jacobi and weft study as whole programs.
#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
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

ProgramResult run(int ranks, const std::string& command, Arguments arguments, int threads = 1) {
  arguments.insert(arguments.begin(), command);
  arguments.insert(arguments.end(), {"--threads", std::to_string(threads), "--json", "-"});
  return run_weft(ranks, arguments);
}

/// The report of a run that converged, checked.
json converged(int ranks, const Arguments& arguments, int threads = 1) {
  const auto result = run(ranks, "jacobi", arguments, threads);
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  CHECK(report.value("command", "") == "jacobi");
  CHECK(report.value("status", "") == "converged");
  CHECK(report.value("relative_residual", 1.0) < report["jacobi"].value("tolerance", 0.0));
  CHECK(report["jacobi"]["iterations"].value("min", 0) > 0);
  return report;
}

std::int64_t iterations(const json& report) { return report["iterations"].get<std::int64_t>(); }

void check_refused(int ranks, const Arguments& arguments, const std::string& message) {
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

/// Poisson's equation on 12 x 12 points with u = 1 on the rim, by penalty, and b.
std::pair<std::string, std::string> rim_files(double penalty) {
  constexpr int side = 12;
  constexpr int last = side - 1;
  std::ostringstream entries;
  std::ostringstream b;
  b << "%%MatrixMarket matrix array real general\n" << side * side << " 1\n";
  int count = 0;
  const auto add = [&](bool exists, int i, int j, double value) {
    if (!exists) return;
    entries << i + 1 << ' ' << j + 1 << ' ' << value << '\n';
    ++count;
  };
  for (int i = 0; i < side * side; ++i) {
    const int x = i % side;
    const int y = i / side;
    const bool is_rim = x == 0 || y == 0 || x == last || y == last;
    add(true, i, i, is_rim ? penalty : 4);
    b << (is_rim ? penalty : 0) << '\n';
    add(x > 0, i, i - 1, -1);
    add(x < last, i, i + 1, -1);
    add(y > 0, i, i - side, -1);
    add(y < last, i, i + side, -1);
  }
  std::ostringstream matrix;
  matrix << "%%MatrixMarket matrix coordinate real general\n"
         << side * side << ' ' << side * side << ' ' << count << '\n'
         << entries.str();
  return {matrix.str(), b.str()};
}

}  // namespace

TEST_CASE("synchronous sweeps are as many as known, however they are made") {
  // 20 x 20 x 40 points: from an independent program.
  const Arguments grid{"--grid", "20x20x40", "--check-period", "1"};
  const std::int64_t expected = iterations(converged(1, grid));
  CHECK(expected == 604);
  for (const int ranks : {2, 3, 4}) CHECK(iterations(converged(ranks, grid, 2)) == expected);
  Arguments deep{"--grid", "20x20x40", "--check-period", "50", "--halo-depth", "5"};
  const std::int64_t next_check = (expected + 49) / 50 * 50;
  for (const int ranks : {1, 4}) CHECK(iterations(converged(ranks, deep)) == next_check);
  for (const std::string transport : {"one-sided", "one-sided:flush", "shared"}) {
    CAPTURE(transport);
    CHECK(iterations(converged(3, {"--grid", "20x20x40", "--check-period", "50", "--transport",
                                   transport})) == next_check);
  }
  deep.emplace_back("--no-time-blocks");
  CHECK(iterations(converged(2, deep)) == next_check);
}

TEST_CASE("asynchronous, every transport and detector comes to the true residual") {
  // Every transport with both variants: async_iteration_mpi_test.
  for (const auto& [transport, variant] :
       {std::pair<std::string, std::string>{"two-sided", "async"},
        {"two-sided", "racy"},
        {"one-sided:flush", "async"},
        {"one-sided:flush-local", "racy"},
        {"one-sided:overlap", "async"},
        {"one-sided", "racy"},
        {"shared", "async"},
        {"shared", "racy"}}) {
    CAPTURE(variant, transport);
    const json report =
        converged(2, {"--grid", "12x12x24", "--variant", variant, "--transport", transport});
    const json& asynchrony = report["jacobi"]["asynchrony"];
    CHECK(asynchrony["sent"] == asynchrony["received"]);
    CHECK(asynchrony["detection"]["fired"] > 0);
  }
  for (const std::string detector : {"flags", "residual", "all-reduce", "snapshot"}) {
    CAPTURE(detector);
    converged(3, {"--grid", "12x12x24", "--variant", "async", "--detector", detector});
  }
}

TEST_CASE("threads of one process sweep without messages") {
  for (const std::string variant : {"sync", "async", "racy"}) {
    CAPTURE(variant);
    const json report =
        converged(1, {"--grid", "16x12x20", "--variant", variant, "--transport", "openmp"}, 3);
    CHECK(report["jacobi"]["iterations"]["of_each"].size() == 3);
  }
}

TEST_CASE("eight ranks share two cores") {
  for (const std::string variant : {"sync", "async", "racy"}) {
    CAPTURE(variant);
    converged(8, {"--grid", "16x16x16", "--variant", variant});
  }
}

TEST_CASE("any matrix can be swept over, weighted, with momentum or in blocks") {
  const std::string problem = "irregular:3000,nnzr=9,bandwidth=40,seed=2";
  for (const std::string variant : {"sync", "async", "racy"}) {
    CAPTURE(variant);
    const Arguments plain{problem, "--variant", variant, "--tolerance", "1e-6"};
    converged(3, plain);
    Arguments weighted = plain;
    weighted.insert(weighted.end(), {"--weight", "0.9"});
    converged(2, weighted);
    Arguments blocks = plain;
    blocks.insert(blocks.end(), {"--inner", "cg:1e-2"});
    const json report = converged(3, blocks);
    CHECK(report["method"] == "multisplitting");
    CHECK(report["jacobi"]["inner"]["iterations"]["min"] > 0);
    Arguments schwarz{"poisson2d:40", "--variant", variant, "--tolerance", "1e-6"};
    schwarz.insert(schwarz.end(), {"--inner", "schwarz:subdomains=6,kind=optimized"});
    CHECK(converged(3, schwarz)["method"] == "schwarz");
  }
  const Arguments grid{"poisson2d:24", "--check-period", "1"};
  Arguments richardson = grid;
  richardson.insert(richardson.end(), {"--momentum", "auto"});
  CHECK(iterations(converged(2, richardson)) < iterations(converged(2, grid)) / 4);
}

TEST_CASE("sweeps over penalty rows go on until each row has converged") {
  const weft::tests::ScratchFolder folder;
  const auto penalized = rim_files(1e12);
  const std::string file = folder.write("rim.mtx", penalized.first);
  const std::string b = folder.write("rim-b.mtx", penalized.second);
  for (const std::string inner : {"", "schwarz:subdomains=3"})
    for (const int ranks : {1, 3}) {
      CAPTURE(inner, ranks);
      Arguments arguments{file, "--rhs", b, "--check-period", "1"};
      if (!inner.empty()) arguments.insert(arguments.end(), {"--inner", inner});
      const json report = converged(ranks, arguments);
      // One sweep sets the rim, and hides the rest where residuals are those of whole rows.
      CHECK(iterations(report) > (inner.empty() ? 100 : 3));
      CHECK(report["jacobi"].value("explanation", "").find("rows differ in scale") == 0);
    }
  const auto plain = rim_files(4);
  const json report = converged(1, {folder.write("plain.mtx", plain.first), "--rhs",
                                    folder.write("plain-b.mtx", plain.second)});
  CHECK(!report["jacobi"].contains("explanation"));
}

TEST_CASE("whether asynchronous sweeps must converge is told first") {
  const auto warned =
      run(2, "jacobi", {"poisson3d27:6", "--variant", "async", "--max-iterations", "50"});
  CHECK(warned.errors.find("warning") == std::string::npos);
  const weft::tests::ScratchFolder folder;
  const auto file = folder.write("matrix.mtx",
                                 "%%MatrixMarket matrix coordinate real general\n2 2 4\n"
                                 "1 1 1\n1 2 2\n2 1 2\n2 2 1\n");
  const auto result = run(2, "jacobi", {file, "--variant", "async", "--max-iterations", "20"});
  CHECK(result.exit_code == 3);
  CHECK(result.errors.find("warning: the spectral radius of |D^-1 (L+U)| is about 2.0") == 0);
  check_refused(2, {"jacobi", file, "--variant", "async", "--strict"}, "spectral radius");
}

TEST_CASE("faults are suffered and too few sweeps are a result") {
  const json slow =
      converged(2, {"--grid", "12x12x24", "--variant", "async", "--inject", "slow:1:4"});
  CHECK(slow["jacobi"]["times"]["injected"]["max"] > 0.0);
  const auto result = run(2, "jacobi", {"--grid", "12x12x24", "--max-iterations", "7"});
  CHECK(result.exit_code == 3);
  CHECK(iterations(report_of(result)) == 7);
}

TEST_CASE("a study runs every value") {
  const auto result = run(2, "study",
                          {"in-flight", "--grid", "8x8x16", "--variant", "racy", "--values",
                           "1,4,16", "--repetitions", "1"});
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  CHECK(report["study"]["runs"].size() == 3);
  for (const json& one : report["study"]["runs"]) CHECK(one["status"] == "converged");
  CHECK(run_weft(2, {"study", "halo-period", "--grid", "8x8x16", "--variant", "async", "--values",
                     "1,8", "--threads", "1", "--repetitions", "1"})
            .exit_code == 0);
}

TEST_CASE("options that do not go together are refused") {
  int next = 1;
  const auto refused = [&](const Arguments& arguments, const std::string& message) {
    check_refused(next, arguments, message);
    next = 3 - next;
  };
  refused({"jacobi"}, "found neither PROBLEM nor --grid");
  refused({"jacobi", "poisson3d:5", "--grid", "5"}, "found PROBLEM and --grid");
  refused({"jacobi", "--grid", "5x"}, "5x");
  refused({"jacobi", "--grid", "5", "--transport", "shared", "--mode", "overlap"},
          "--mode: found overlap");
  refused({"jacobi", "--grid", "5", "--transport", "pigeon"}, "pigeon");
  refused({"jacobi", "--grid", "5", "--inject", "slow:9:2"}, "--inject: found rank");
  refused({"jacobi", "--grid", "5", "--inject", "tired"}, "tired");
  refused({"jacobi", "poisson3d:5", "--halo-depth", "2"}, "--halo-depth");
  refused({"jacobi", "poisson3d:5", "--inner", "lu"}, "--inner: found 'lu'");
  refused({"jacobi", "poisson3d:5", "--inner", "schwarz:kind=symmetric"},
          "--inner: found 'kind=symmetric'");
  refused({"jacobi", "poisson3d:5", "--inner", "schwarz:overlap=1,shift=0.1"},
          "--inner: found shift");
  refused({"study", "in-flight", "--grid", "5"}, "--variant sync");
  check_refused(2, {"jacobi", "--grid", "5", "--transport", "openmp"}, "found 2 ranks");
  check_refused(2, {"jacobi", "--grid", "5", "--halo-depth", "9"}, "halo depth: found 9");
  check_refused(8, {"jacobi", "--grid", "1x1x5"}, "cannot be cut into 8 boxes");
}
