// Solves that end other than by convergence, and the output of the program.
#include <string>

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

TEST_CASE("a right-hand side whose squares leave the range of double is refused") {
  const ScratchFolder folder;
  const auto b_of = [&](const std::string& value) {
    std::string text = "%%MatrixMarket matrix array real general\n144 1\n";
    for (int i = 0; i < 144; ++i) text += value + "\n";
    return folder.write(value + ".mtx", text);
  };
  const auto check_refused = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--threads", "1", "--json", "-"});
    const auto result = run_weft(2, arguments);
    INFO(result.output << result.errors);
    CHECK(result.exit_code == 3);
    const auto report = report_of(result);
    CHECK(report.value("status", "") == "breakdown");
    CHECK_THAT(result.output, Catch::Contains("scale the system"));
    CHECK(report.value("relative_residual", 0.0) == 1);
    if (arguments.front() == "solve") CHECK(report.value("recurrence_residual", 0.0) == 1);
  };
  const auto small = b_of("1e-158");
  const auto smaller = b_of("1e-161");
  for (const char* const method : {"cg", "bicgstab", "minres"})
    check_refused(
        {"solve", "poisson2d:12", "--rhs", small, "--method", method, "--preconditioner", "none"});
  check_refused({"solve", "poisson2d:12", "--rhs", smaller});
  check_refused({"solve", "poisson2d:12", "--rhs", b_of("1e-320")});
  for (const char* const variant : {"sync", "async"})
    for (const auto& b : {small, b_of("1e-170")})
      check_refused({"jacobi", "poisson2d:12", "--rhs", b, "--variant", variant});
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
