// Solves that end other than by convergence, and the output of the program.
#include <cmath>
#include <iomanip>
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

int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a solve that runs out of iterations reports in full and ends with exit code 3") {
  for (const int ranks : {1, 2}) {
    const auto result = run_weft(
        ranks, {"solve", "poisson3d:20", "--max-iterations", "3", "--threads", "1", "--json", "-"});
    INFO(ranks << " ranks");
    CHECK(result.exit_code == 3);
    const auto report = report_of(result);
    CHECK(faults_of_solve_report(report) == "");
    CHECK(report.value("status", "") == "not-converged");
    CHECK(report.value("iterations", -1) == 3);
    CHECK(report.value("relative_residual", 0.0) > 1e-8);
  }
}

TEST_CASE("an indefinite matrix is a breakdown with an explanation and exit code 3") {
  const ScratchFolder folder;
  const auto matrix = folder.write("indefinite.mtx",
                                   "%%MatrixMarket matrix coordinate real symmetric\n"
                                   "3 3 3\n1 1 1\n2 2 -2\n3 3 1\n");
  for (const int ranks : {1, 2}) {
    INFO(ranks << " ranks");
    const auto result = run_weft(ranks, {"solve", matrix, "--method", "cg", "--rhs", "ones",
                                         "--threads", "1", "--json", "-"});
    CHECK(result.exit_code == 3);
    const auto report = report_of(result);
    CHECK(faults_of_solve_report(report) == "");
    CHECK(report.value("status", "") == "breakdown");
    CHECK(report.value("explanation", "").find("not positive definite") != std::string::npos);
    const auto summary =
        run_weft(ranks, {"solve", matrix, "--method", "cg", "--rhs", "ones", "--threads", "1"});
    CHECK(summary.exit_code == 3);
    CHECK(summary.output.find("breakdown after 0 iterations") != std::string::npos);
    CHECK(summary.output.find("not positive definite") != std::string::npos);
  }
}

TEST_CASE("a singular matrix is not converged where the recurrence says so, with the reason") {
  const ScratchFolder folder;
  // A path of 40 nodes without a boundary: the sum over b is not zero.
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n40 40 79\n";
  for (int i = 1; i <= 40; ++i) {
    text += std::to_string(i) + " " + std::to_string(i) + (i == 1 || i == 40 ? " 1\n" : " 2\n");
    if (i > 1) text += std::to_string(i) + " " + std::to_string(i - 1) + " -1\n";
  }
  const auto matrix = folder.write("singular.mtx", text);
  for (const char* const method : {"cg", "cg-one-reduction", "cg-pipelined", "cg-pipelined-pr"}) {
    INFO(method);
    const auto result = run_weft(2, {"solve", matrix, "--rhs", "random:1", "--method", method,
                                     "--threads", "1", "--json", "-"});
    CHECK(result.exit_code == 3);
    const auto report = report_of(result);
    CHECK(faults_of_solve_report(report) == "");
    CHECK(report.value("status", "") != "converged");
    CHECK(report.value("explanation", "") != "");
    CHECK(report.value("relative_residual", 0.0) > 1e-3);
  }
}

TEST_CASE("Hilbert's matrix with Schwarz is converged only if its true residual is") {
  const ScratchFolder folder;
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n12 12 78\n";
  for (int i = 1; i <= 12; ++i)
    for (int j = 1; j <= i; ++j)
      text += std::to_string(i) + " " + std::to_string(j) + " " +
              std::to_string(1.0L / (i + j - 1)) + "\n";
  const auto matrix = folder.write("hilbert.mtx", text);
  const auto result = run_weft(1, {"solve", matrix, "--rhs", "ones", "--preconditioner",
                                   "schwarz:subdomains=2", "--threads", "1", "--json", "-"});
  if (result.exit_code == 2) return;  // a piece may be refused as not positive definite
  const auto report = report_of(result);
  CHECK((result.exit_code == 0) == (report.value("status", "") == "converged"));
  CHECK((result.exit_code == 0) == (report.value("relative_residual", 1.0) < 1.1e-8));
}

TEST_CASE("the bandwidth is what the bytes of the model take in the measured time") {
  const auto report =
      report_of(run_weft(2, {"solve", "poisson3d:12", "--threads", "1", "--json", "-"}));
  const auto& performance = report["performance"];
  const double bytes = performance["model_bytes_per_row"].get<double>() * 12 * 12 * 12;
  CHECK(bytes > 0);
  CHECK(performance["model_bytes_per_iteration"].get<double>() == Approx(bytes));
  CHECK(1e9 * performance["model_bandwidth_gb_per_second"].get<double>() ==
        Approx(bytes / performance["seconds_per_iteration"].get<double>()));
  const auto summary = run_weft(2, {"solve", "poisson3d:12", "--threads", "1"});
  CHECK_THAT(summary.output, Catch::Contains("bytes per row and iteration by the model"));
}

TEST_CASE("a right-hand side of zeros is solved after 0 iterations by a solution of zeros") {
  const ScratchFolder folder;
  const auto zeros =
      folder.write("zeros.mtx", "%%MatrixMarket matrix array real general\n4 1\n0\n0\n0\n0\n");
  const auto solution = folder.path("x.mtx");
  for (const int ranks : {1, 3}) {
    INFO(ranks << " ranks");
    const auto result = run_weft(ranks, {"solve", "poisson2d:2x2", "--rhs", zeros, "--solution",
                                         solution, "--threads", "1", "--json", "-"});
    CHECK(result.exit_code == 0);
    const auto report = report_of(result);
    CHECK(report.value("status", "") == "converged");
    CHECK(report.value("iterations", -1) == 0);
    CHECK(report.value("relative_residual", -1.0) == 0);
    CHECK(occurrences(read_file(solution), "\n0") == 4);
  }
}

TEST_CASE("a right-hand side of any size takes the iterations that it takes times a power of two") {
  const ScratchFolder folder;
  const auto b_of = [&](int exponent) {
    std::ostringstream text;
    text << "%%MatrixMarket matrix array real general\n144 1\n" << std::setprecision(17);
    for (int i = 0; i < 144; ++i) text << std::ldexp(1 + i % 5, exponent) << '\n';
    return folder.write(std::to_string(exponent) + ".mtx", text.str());
  };
  const auto iterations = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--threads", "1", "--json", "-"});
    const auto result = run_weft(2, arguments);
    INFO(result.output << result.errors);
    CHECK(result.exit_code == 0);
    const auto report = report_of(result);
    const auto& outcome = arguments.front() == "solve" ? report : report["jacobi"];
    CHECK(outcome.value("relative_residual", 1.0) < 1.1e-4);
    return report.value("iterations", -1);
  };
  for (const char* const method : {"cg", "bicgstab", "minres"}) {
    const auto solve = [&](int exponent) {
      return iterations({"solve", "poisson2d:12", "--rhs", b_of(exponent), "--method", method,
                         "--preconditioner", "none"});
    };
    const auto ordinary = solve(0);
    for (const int exponent : {-1000, -540, 600}) CHECK(solve(exponent) == ordinary);
  }
  const auto sweep = [&](int exponent, const std::string& variant) {
    return iterations({"jacobi", "poisson2d:12", "--rhs", b_of(exponent), "--variant", variant});
  };
  const auto ordinary = sweep(0, "sync");
  for (const int exponent : {-1000, -540, 600}) {
    CHECK(sweep(exponent, "sync") == ordinary);
    sweep(exponent, "async");
  }
}

TEST_CASE("a solve may end at an absolute tolerance alone, and not without any") {
  for (const char* const method : {"cg", "auto", "multigrid"}) {
    const auto solve = [&](const char* absolute) {
      const auto result =
          run_weft(1, {"solve", "poisson3d:10", "--rhs", "ones", "--method", method, "--tolerance",
                       "0", "--absolute-tolerance", absolute, "--threads", "1", "--json", "-"});
      INFO(result.errors);
      CHECK(result.exit_code == 0);
      const auto report = report_of(result);
      CHECK(report.value("status", "") == "converged");
      // ‖b‖ = √1000
      CHECK(report.value("relative_residual", 1.0) * std::sqrt(1000.0) <=
            1.1 * std::stod(absolute));
      return report.value("iterations", -1);
    };
    CHECK(solve("1e-1") <= solve("1e-8"));
    CHECK(solve("100") == 0);
  }
  const auto refused = run_weft(1, {"solve", "poisson3d:10", "--tolerance", "0"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.errors, Catch::Contains("--absolute-tolerance"));
}

TEST_CASE("synchronous sweeps that diverge say what is known of asynchronous ones") {
  const ScratchFolder folder;
  const auto ring = [&](const std::string& name, double diagonal, double beside) {
    constexpr int n = 30;
    std::ostringstream text;
    text << "%%MatrixMarket matrix coordinate real general\n" << n << ' ' << n << ' ' << 3 * n;
    for (int row = 0; row < n; ++row) {
      text << '\n' << row + 1 << ' ' << row + 1 << ' ' << diagonal;
      for (const int step : {1, n - 1})
        text << '\n' << row + 1 << ' ' << (row + step) % n + 1 << ' ' << beside;
    }
    return folder.write(name + ".mtx", text.str() + "\n");
  };
  const auto explanation = [](const std::string& matrix, const char* weight) {
    const auto result = run_weft(2, {"jacobi", matrix, "--rhs", "random:3", "--weight", weight,
                                     "--threads", "1", "--json", "-"});
    CHECK(result.exit_code == 3);
    return report_of(result)["jacobi"].value("explanation", "");
  };
  // Rows of |D^-1 (L+U)| add up to 2·|beside|/diagonal: so does its radius.
  const auto diverging = explanation(ring("diverging", 1, 0.75), "1");
  CHECK_THAT(diverging, Catch::Contains("at least 1.5000, not below 1 for certain"));
  const auto too_long = explanation(ring("converging", 1, 0.4), "1.9");
  CHECK_THAT(too_long, Catch::Contains("at most 0.8000, below 1 for certain"));
}

TEST_CASE("the summary is printed once however many ranks there are") {
  const auto result = run_weft(3, {"solve", "poisson3d:10", "--threads", "1"});
  CHECK(result.exit_code == 0);
  CHECK(occurrences(result.output, "converged after") == 1);
  CHECK(result.errors == "");
}

TEST_CASE("a report file holds what standard output would have, beside the summary") {
  const ScratchFolder folder;
  const auto result =
      run_weft(2, {"solve", "poisson3d:10", "--threads", "1", "--json", folder.path("r.json")});
  CHECK(result.exit_code == 0);
  CHECK(occurrences(result.output, "converged after") == 1);
  CHECK(faults_of_solve_report(
            nlohmann::json::parse(read_file(folder.path("r.json")), nullptr, false)) == "");
  CHECK(folder.names() == std::vector<std::string>{"r.json"});
}

TEST_CASE("help and version are printed once on three ranks, with exit code 0") {
  const auto check_once = [](const std::vector<std::string>& arguments, const std::string& text) {
    const auto result = run_weft(3, arguments);
    INFO(result.output);
    CHECK(result.exit_code == 0);
    CHECK(occurrences(result.output, text) == 1);
    CHECK(result.errors == "");
  };
  check_once({"--help"}, "Usage: weft [OPTIONS]");
  check_once({"--version"}, "weft ");
  for (const char* const command : {"solve", "spmv", "generate", "topology"}) {
    check_once({command, "--help"}, std::string("Usage: weft ") + command);
    check_once({command, "--help"}, "Examples:");
  }
}

TEST_CASE("LIKWID is loaded for --version only: its tables would be 14 MB in each process") {
  const weft::tests::Environment loader_tells{{"LD_DEBUG", "files"}};
  CHECK_THAT(run_weft(1, {"--version"}, loader_tells).errors, Catch::Contains("liblikwid"));
  const auto solve = run_weft(1, {"solve", "poisson2d:8", "--threads", "1"}, loader_tells);
  CHECK(solve.exit_code == 0);
  CHECK_THAT(solve.errors, Catch::Contains("libmpich") && !Catch::Contains("liblikwid"));
}
