// weft solve FILE without options: what is chosen, and how it ends.
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::faults_of_solve_report;
using weft::tests::read_file;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

/// n×n points; `entry(i, j)` of neighbours and of the point itself.
std::string grid_matrix(int n, const std::function<double(int, int)>& entry) {
  std::string lines;
  int count = 0;
  const auto add = [&](int i, int j) {
    const double value = entry(i, j);
    if (value == 0) return;
    lines +=
        std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + std::to_string(value) + "\n";
    ++count;
  };
  for (int i = 0; i < n * n; ++i) {
    if (i >= n) add(i, i - n);
    if (i % n > 0) add(i, i - 1);
    add(i, i);
    if (i % n < n - 1) add(i, i + 1);
    if (i + n < n * n) add(i, i + n);
  }
  const std::string size = std::to_string(n * n);
  return "%%MatrixMarket matrix coordinate real general\n" + size + " " + size + " " +
         std::to_string(count) + "\n" + lines;
}

/// Solves on 1 and 3 ranks, to the same file, and returns the report of the second run.
nlohmann::json solve(const ScratchFolder& folder, const std::string& file, int exit_code) {
  std::string first;
  nlohmann::json report;
  for (const int ranks : {1, 3}) {
    INFO(file << " on " << ranks << " ranks");
    const auto result = run_weft(ranks, {"solve", file, "--threads", "1", "--json", "-",
                                         "--solution", folder.path("x.mtx")});
    CHECK(result.exit_code == exit_code);
    report = report_of(result);
    CHECK(faults_of_solve_report(report) == "");
    const std::string x = read_file(folder.path("x.mtx"));
    CHECK((first.empty() || first == x));
    first = x;
  }
  return report;
}

/// What is wrong with the choices besides the method, which are on 3 ranks.
std::string faults_of_choices(const nlohmann::json& report) {
  std::string faults;
  const std::string command = report.value("command_line", "");
  std::vector<std::string> seen;
  for (const auto& choice : report.value("choices", nlohmann::json::array())) {
    seen.push_back(choice.value("what", ""));
    if (choice.value("why", "").empty()) faults += seen.back() + " without a reason; ";
    const std::string option = "--" + seen.back() + " " + choice.value("value", "?");
    if (seen.back() != "precision" && command.find(option) == std::string::npos)
      faults.append(option).append(" not in ").append(command).append("; ");
  }
  if (seen != std::vector<std::string>{"order", "partition", "format", "mode", "precision"})
    faults += "not all choices are there; ";
  return faults;
}

}  // namespace

TEST_CASE("what is chosen suits the matrix, solves it, and has the same bits on any ranks") {
  const ScratchFolder folder;
  const auto laplacian = [](int i, int j) { return i == j ? 4.0 : -1.0; };
  const auto convection = [](int i, int j) { return i == j ? 5.0 : j < i ? -2.0 : -0.5; };
  const auto shifted = [](int i, int j) { return i == j ? (i % 2 ? -4.5 : 3.5) : -1.0; };
  const auto hollow = [](int i, int j) {
    return i == j ? (i % 4 == 0 ? 0.0 : 5.0) : j < i ? -2.0 : -0.5;
  };
  const auto chosen = [&](const char* name, int n, const std::function<double(int, int)>& entry) {
    const auto report = solve(folder, folder.write(name, grid_matrix(n, entry)), 0);
    CHECK(report.value("relative_residual", 1.0) < 1.1e-8);
    CHECK(report.value("command_line", "").find("--method " + report.value("method", "?")) !=
          std::string::npos);
    CHECK(faults_of_choices(report) == "");
    return report.value("method", "") + " " + report.value("preconditioner", "");
  };
  CHECK(chosen("small.mtx", 20, laplacian) == "cg schwarz");
  CHECK(chosen("large.mtx", 80, laplacian) == "cg jacobi");
  CHECK(chosen("larger.mtx", 175, laplacian) == "cg multigrid");
  const auto mixed = [](int i, int j) { return i == j ? 4.0 : i + j == 15 ? 0.5 : -1.0; };
  CHECK(chosen("mixed_signs.mtx", 175, mixed) == "cg amg");
  CHECK(chosen("convection.mtx", 20, convection) == "gmres block-lu");
  CHECK(chosen("large_convection.mtx", 80, convection) == "bicgstab ilu0");
  CHECK(chosen("indefinite.mtx", 20, shifted) == "gmres block-lu");
  CHECK(chosen("hollow.mtx", 20, hollow) == "gmres block-lu");
  CHECK(chosen("one.mtx", 1, laplacian) == "gmres jacobi");
}

TEST_CASE("a singular matrix ends with the least residual, and what is refused is changed for it") {
  const ScratchFolder folder;
  const auto neumann = [](int i, int j) {
    const int n = 9;
    if (i != j) return -1.0;
    return 4.0 - (i < n) - (i + n >= n * n) - (i % n == 0) - (i % n == n - 1);
  };
  const auto report = solve(folder, folder.write("neumann.mtx", grid_matrix(9, neumann)), 3);
  CHECK(report.value("status", "") == "not-converged");
  CHECK(report.value("relative_residual", 0.0) == Approx(1));  // b = 1 is the null space
  CHECK(report.value("explanation", "").find("null space") != std::string::npos);
  CHECK(report.value("null_space", "").starts_with("constant, because"));
  const auto consistent =
      run_weft(2, {"solve", folder.path("neumann.mtx"), "--rhs", "x-random:3", "--threads", "1"});
  CHECK(consistent.exit_code == 0);
  CHECK_THAT(consistent.output, Catch::Contains("null space   constant"));
  // Symmetric with a positive diagonal, and not definite: Cholesky refuses it, LU does not.
  const auto hidden = [](int i, int j) { return i == j ? 1.0 : -1.0; };
  const auto turned = solve(folder, folder.write("hidden.mtx", grid_matrix(10, hidden)), 0);
  CHECK(turned.value("method", "") == "gmres");
  CHECK(turned["decisions"].size() == 3);
  const auto summary = run_weft(2, {"solve", folder.path("hidden.mtx"), "--threads", "1"});
  CHECK_THAT(summary.output, Catch::Contains("turned to gmres with preconditioner block-lu"));
  CHECK_THAT(summary.output, Catch::Contains("same as      weft solve "));
  CHECK_THAT(summary.output, Catch::Contains("\n             mode task: "));
}

TEST_CASE(
    "rows in a random order are reordered unasked, and the command named gives the same bits") {
  const ScratchFolder folder;
  const std::string file = folder.path("random.npz");
  CHECK(run_weft(1, {"generate", "irregular:150000,nnzr=4,bandwidth=149000", file}).exit_code == 0);
  const auto report = solve(folder, file, 0);
  CHECK(report["ordering"].value("order", "") == "rcm");
  CHECK(report["choices"][0].value("value", "") == "rcm");
  CHECK(report["choices"][3].value("why", "").find("products each") != std::string::npos);
  const std::string chosen = read_file(folder.path("x.mtx"));
  std::istringstream command(report.value("command_line", ""));
  std::vector<std::string> words{std::istream_iterator<std::string>(command), {}};
  words.erase(words.begin());
  words.insert(words.end(), {"--threads", "1", "--solution", folder.path("x.mtx")});
  CHECK(run_weft(2, words).exit_code == 0);
  CHECK(chosen == read_file(folder.path("x.mtx")));
}

TEST_CASE("a solve begins where it is told to, and ends when its time is over") {
  const ScratchFolder folder;
  const auto laplacian = [](int i, int j) { return i == j ? 4.0 : -1.0; };
  const std::string file = folder.write("matrix.mtx", grid_matrix(40, laplacian));
  const std::string x = folder.path("x.mtx");
  const auto run = [&](int ranks, std::vector<std::string> more) {
    more.insert(more.begin(), {"solve", file, "--method", "cg", "--threads", "1", "--json", "-"});
    return run_weft(ranks, more);
  };
  CHECK(run(1, {"--solution", x}).exit_code == 0);
  const auto again = run(3, {"--initial", x, "--order", "rcm"});
  CHECK(again.exit_code == 0);
  CHECK(report_of(again).value("iterations", -1) == 0);
  CHECK(run(1, {"--initial", folder.path("none.mtx")}).exit_code == 2);
  const auto absolute = run(2, {"--tolerance", "1e-300", "--absolute-tolerance", "1e-3"});
  CHECK(absolute.exit_code == 0);
  CHECK(report_of(absolute).value("relative_residual", 1.0) < 1.1e-3 / 40);

  const auto late =
      run_weft(2, {"solve", "poisson3d:60", "--method", "gmres", "--tolerance", "1e-300",
                   "--max-iterations", "100000000", "--max-seconds", "0.05", "--threads", "1"});
  CHECK(late.exit_code == 6);
  CHECK_THAT(late.output, Catch::Contains("out-of-time after"));
  CHECK_THAT(late.output, Catch::Contains("max-seconds: 0.05 s are over"));
}
