// Whole solves: iteration counts known from the literature, reports, and failures.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::faults_of_solve_report;
using weft::tests::report_of;
using weft::tests::run_weft;

/// Solves the Poisson problem of 50³ points with `first_threads` and the other number of threads
/// from mode to mode in turn.
void check_iterations(int ranks, const std::string& tolerance, int iterations, int first_threads) {
  int number = first_threads;
  for (const char* const mode : {"vector", "overlap", "task"}) {
    const std::string threads = std::to_string(std::exchange(number, 3 - number));
    INFO(ranks << " ranks, " << threads << " threads, mode " << mode);
    const auto result =
        run_weft(ranks, {"solve", "poisson3d:50", "--rhs", "boundary-one", "--tolerance", tolerance,
                         "--threads", threads, "--mode", mode, "--json", "-"});
    CHECK(result.exit_code == 0);
    const auto report = report_of(result);
    CHECK(faults_of_solve_report(report) == "");
    CHECK(report.value("command", "") == "solve");
    CHECK(report.value("status", "") == "converged");
    CHECK(report.value("iterations", -1) == iterations);
    CHECK(report.value("mode", "") == mode);
    CHECK(report.value("method", "") == "cg");
    CHECK(report.value("ranks", -1) == ranks);
    CHECK(std::to_string(report.value("threads", -1)) == threads);
    CHECK(report["problem"].value("rows", -1) == 125000);
    CHECK(report["problem"].value("nonzeros", -1) == 860000);
    CHECK(report["placement"]["ranks"].size() == static_cast<std::size_t>(ranks));
    CHECK(report.value("relative_residual", 1.0) <= 2 * std::stod(tolerance));
  }
}

}  // namespace

TEST_CASE("every method solves 50^3 without a matrix in as many iterations") {
  // The variants on other numbers of ranks: krylov_variants_mpi_test.
  for (const auto& [method, ranks] : {std::pair<std::string, int>{"cg", 8},
                                      {"cg-one-reduction", 3},
                                      {"cg-pipelined", 1},
                                      {"cg-pipelined-pr", 3}}) {
    CAPTURE(method, ranks);
    const auto result = run_weft(ranks, {"solve", "poisson3d:50", "--operator", "stencil",
                                         "--method", method, "--threads", "1", "--json", "-"});
    CHECK(result.exit_code == 0);
    const auto report = report_of(result);
    CHECK(faults_of_solve_report(report) == "");
    CHECK(report.value("iterations", -1) == 125);
    CHECK(report.value("relative_residual", 1.0) < 1.1e-8);
    CHECK(report.value("restarts", -1) == 0);
    CHECK((report["waiting"]["halo"].value("seconds_alone", -1.0) > 0) == (ranks > 1));
  }
}

TEST_CASE("the method can be chosen by a trial, which the report explains") {
  for (const int ranks : {1, 2}) {
    const auto result = run_weft(ranks, {"solve", "poisson3d:20", "--operator", "stencil",
                                         "--method", "auto", "--threads", "1", "--json", "-"});
    CHECK(result.exit_code == 0);
    const auto report = report_of(result);
    const std::string choice = report.value("method_choice", "");
    CHECK(choice.find(report.value("method", "none") + " is quickest") == 0);
    CHECK((choice.find("cg-pipelined ") != std::string::npos) == (ranks > 1));
    CHECK(choice.find("multigrid ") != std::string::npos);
  }
}

TEST_CASE("trials of a matrix take no more than a tenth of the iterations") {
  const auto choice_of = [](int ranks, const std::string& preconditioner) {
    const auto result =
        run_weft(ranks, {"solve", "irregular:3000,nnzr=15,bandwidth=500", "--method", "auto",
                         "--preconditioner", preconditioner, "--threads", "1", "--json", "-"});
    INFO(result.errors);
    CHECK(result.exit_code == 0);
    const auto report = report_of(result);
    CHECK(report.value("iterations", 100) < 30);
    return report.value("method_choice", "");
  };
  CHECK(choice_of(1, "jacobi").find("cg without a trial: one rank") == 0);
  CHECK(choice_of(2, "amg").find("cg without a trial: beside a preconditioner with levels") == 0);
  const std::string one_tried = choice_of(2, "jacobi");
  INFO(one_tried);
  CHECK(one_tried.find("cg is quickest in an iteration: cg ") == 0);
  CHECK(one_tried.find("cg-one-reduction") == std::string::npos);
  CHECK(one_tried.find("trials end at a tenth of the ") != std::string::npos);
}

TEST_CASE("a solve preconditioned by Schwarz takes the same iterations on any ranks") {
  for (const int ranks : {1, 3}) {
    const auto result = run_weft(
        ranks, {"solve", "poisson3d:16", "--preconditioner", "schwarz:subdomains=6,overlap=1",
                "--method", "cg-pipelined", "--threads", "2", "--json", "-"});
    INFO(result.errors);
    CHECK(result.exit_code == 0);
    const auto report = report_of(result);
    CHECK(report["preconditioner"] == "schwarz");
    CHECK(report["schwarz_preconditioner"]["subdomains"] == 6);
    CHECK(report["schwarz_preconditioner"]["largest_subdomain"] == 1195);
    CHECK(report["iterations"] == 17);
  }
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--preconditioner", "schwarz:kind=restricted"},
        {"--preconditioner", "schwarz:subdomains=5000"},
        {"--preconditioner", "schwarz:frob"},
        {"--preconditioner", "schwarz:kind=optimized"},
        {"--preconditioner", "schwarz:kind=optimized,shift=0", "--method", "gmres"},
        {"--preconditioner", "schwarz:kind=optimized,overlap=0", "--method", "gmres"},
        {"--preconditioner", "schwarz:kind=restricted,shift=0.5", "--method", "gmres"},
        {"--preconditioner", "schwarz", "--operator", "stencil"}}) {
    std::vector<std::string> arguments{"solve", "poisson3d:16"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    const auto result = run_weft(2, arguments);
    INFO(result.errors);
    CHECK(result.exit_code == 2);
    CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
    CHECK(result.errors.find("expected") != std::string::npos);
  }
}

TEST_CASE("GMRES takes the same iterations on any ranks, with and without a matrix") {
  std::int64_t iterations = -1;
  for (const std::string kind : {"matrix", "stencil"})
    for (const int ranks : {1, 3}) {
      CAPTURE(kind, ranks);
      const auto result =
          run_weft(ranks, {"solve", "poisson3d:12", "--method", "gmres", "--restart", "8",
                           "--operator", kind, "--threads", "1", "--json", "-"});
      CHECK(result.exit_code == 0);
      const auto report = report_of(result);
      CHECK(faults_of_solve_report(report) == "");
      CHECK(report.value("method", "") == "gmres");
      CHECK(report.value("restart", -1) == 8);
      CHECK(report.value("relative_residual", 1.0) < 1e-8);
      if (iterations < 0) iterations = report.value("iterations", -1);
      CHECK(report.value("iterations", -1) == iterations);
      CHECK(report.value("restarts", -1) == (iterations - 1) / 8);
    }
  const auto refused = run_weft(1, {"solve", "poisson3d:12", "--restart", "8"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.errors.find("--restart: found with --method cg; expected --method gmres") !=
        std::string::npos);
}

TEST_CASE("what a stencil cannot do is refused") {
  const auto irregular = run_weft(2, {"solve", "irregular:100", "--operator", "stencil"});
  CHECK(irregular.exit_code == 2);
  CHECK(irregular.errors.find("expected poisson2d") != std::string::npos);
  const auto ordered =
      run_weft(2, {"solve", "poisson3d:5", "--operator", "stencil", "--order", "rcm"});
  CHECK(ordered.exit_code == 2);
  CHECK(ordered.errors.find("found with --operator stencil") != std::string::npos);
}

TEST_CASE("CG solves 50^3 in 55 iterations to 1e-2 on four ranks") {
  check_iterations(4, "1e-2", 55, 2);
}
TEST_CASE("CG solves 50^3 in 125 iterations to 1e-8 on one rank") {
  check_iterations(1, "1e-8", 125, 1);
}
TEST_CASE("CG solves 50^3 in 125 iterations to 1e-8 on two ranks") {
  check_iterations(2, "1e-8", 125, 2);
}
TEST_CASE("CG solves 50^3 in 125 iterations to 1e-8 on three ranks") {
  check_iterations(3, "1e-8", 125, 1);
}
