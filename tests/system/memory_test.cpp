// The forecast of memory against the measured peak.
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

void check_forecast_of(const std::string& what, const std::vector<int>& rank_counts,
                       double most = 1.15) {
  for (const int ranks : rank_counts) {
    INFO(ranks << " ranks: " << what);
    std::vector<std::string> arguments;
    std::istringstream words(what);
    for (std::string word; words >> word;) arguments.push_back(word);
    arguments.insert(arguments.end(), {"--threads", "1", "--json", "-"});
    const auto report = report_of(run_weft(ranks, arguments));
    const double peak = report["memory"]["peak_bytes"]["max"];
    const double forecast = report["memory"]["forecast"]["rank_bytes"];
    CHECK(forecast > 0.85 * peak);
    CHECK(forecast < most * peak);
  }
}

void check_forecast(const std::string& what, const std::vector<int>& rank_counts = {2}) {
  check_forecast_of("solve --max-iterations 3 " + what, rank_counts);
}

}  // namespace

TEST_CASE("the forecast of memory is within 15 % of the peak") {
  check_forecast("poisson3d:90", {1, 2});
  check_forecast("poisson3d:110 --operator stencil", {1, 2});
  check_forecast("poisson3d:80 --method gmres");
  check_forecast("poisson3d:80 --method fgmres");
  check_forecast("poisson3d27:70 --method cg-pipelined");
  check_forecast("irregular:600000 --preconditioner jacobi");
  check_forecast("poisson3d:80 --method bicgstab --preconditioner jacobi");
  check_forecast("poisson3d:80 --method bicgstab-pipelined --preconditioner jacobi");
  check_forecast("poisson3d:80 --method minres --preconditioner jacobi");
  check_forecast_of("solve --max-iterations 60 --tolerance 1e-30 irregular:600000", {2});
  check_forecast("poisson3d:90 --preconditioner multigrid", {1, 2});
  check_forecast("poisson3d:90 --preconditioner multigrid --operator matrix");
  check_forecast("diffusion3d:64,lognormal:2 --preconditioner multigrid --operator matrix", {1, 2});
  check_forecast("poisson3d:110 --method auto");
  check_forecast("diffusion3d:80,lognormal:2 --method auto");
  check_forecast("poisson2d:40");
  check_forecast("poisson2d:700 --operator stencil --method multigrid");
  check_forecast("poisson2d:1000 --operator stencil --method multigrid");
  check_forecast("diffusion3d:80,constant --operator stencil --method multigrid");
  check_forecast("poisson3d:80 --preconditioner ilu0");
  check_forecast("irregular:200000 --preconditioner isai");
  check_forecast("poisson3d:80 --partition metis");
  check_forecast("poisson3d:80 --preconditioner amg", {1, 2});
  check_forecast("elasticity3d:24 --preconditioner amg", {1, 3});
}

TEST_CASE("the forecast is also right for sweeps, tiles and products") {
  const std::string jacobi = "jacobi --max-iterations 3 ";
  check_forecast_of(jacobi + "--grid 150 --variant async", {3});
  check_forecast_of(jacobi + "--grid 1200x1200x1 --halo-depth 3", {2});
  check_forecast_of(jacobi + "poisson3d:80 --momentum auto", {1});
  check_forecast_of("jacobi --max-iterations 40 irregular:200000", {3});
  check_forecast_of("jacobi irregular:200000 --inner cg:0.1 --tolerance 1e-12", {3});
  check_forecast_of(jacobi + "poisson3d:40 --inner schwarz", {2});
  const std::string schwarz = "schwarz --max-iterations 2 ";
  check_forecast_of(schwarz + "--subdomains 24 --points 64 --overlap 8 --local-solver tensor",
                    {1, 3});
  check_forecast_of(schwarz + "--subdomains 200 --points 8 --variant async", {1, 2});
  check_forecast_of(schwarz + "--subdomains 4 --points 200 --local-solver cholmod", {1});
  check_forecast_of("spmv irregular:200000 --repetitions 2", {2});
}

TEST_CASE("the forecast of a search counts its mass matrix and its preconditioner") {
  // The levels of amg take most while they are made, before the search space is there.
  check_forecast_of(
      "eigen elasticity3d:20 --mass consistent --count 4 --preconditioner amg --tolerance 1e-2"
      " --certificate none",
      {1, 2}, 1.25);
  check_forecast_of("eigen poisson3d:40 --count 6 --tolerance 1e-2 --certificate none", {2});
}

TEST_CASE("the forecast is also right for a matrix from a file and for the factors of Schwarz") {
  const ScratchFolder folder;
  const std::string file = folder.path("matrix.mtx");
  CHECK(run_weft(2, {"generate", "irregular:200000", file}).exit_code == 0);
  check_forecast(file + " --method cg", {1, 2, 3});
  check_forecast("poisson3d:50 --preconditioner schwarz");
}

TEST_CASE("the forecast counts the copy of a matrix whose rows are scaled") {
  constexpr int rows = 200000;
  std::ostringstream text;
  text << "%%MatrixMarket matrix coordinate real symmetric\n"
       << rows << ' ' << rows << ' ' << 2 * rows - 1 << '\n';
  for (int row = 1; row <= rows; ++row) {
    text << row << ' ' << row << (row % 50 == 1 ? " 1e20\n" : " 2\n");
    if (row < rows) text << row + 1 << ' ' << row << " -1\n";
  }
  const ScratchFolder folder;
  const std::string file = folder.write("penalties.mtx", text.str());
  for (const char* const scale : {"rows", "none"})
    check_forecast(file + " --method cg --preconditioner jacobi --order given --scale " + scale,
                   {1, 2});
}

TEST_CASE("the forecast of multigrid for a file allows for couplings that differ by direction") {
  const ScratchFolder folder;
  const std::string file = folder.path("plane.mtx");
  CHECK(run_weft(2, {"generate", "anisotropic3d:300x300x1,1000,1,1", file}).exit_code == 0);
  for (const int ranks : {1, 2}) {
    CAPTURE(ranks);
    const auto report = report_of(run_weft(ranks, {"solve", file, "--json", "-"}));
    CHECK(report["memory"]["forecast"]["parts"].contains("multigrid"));
    const double peak = report["memory"]["peak_bytes"]["max"];
    const double forecast = report["memory"]["forecast"]["rank_bytes"];
    CHECK(forecast > peak);
    CHECK(forecast < 1.4 * peak);
  }
}

TEST_CASE("the forecast knows the order of a file by a sample of its rows") {
  const ScratchFolder folder;
  const auto generate = [&](const std::string& problem, const std::string& name) {
    CHECK(run_weft(2, {"generate", problem, folder.path(name)}).exit_code == 0);
    return folder.path(name);
  };
  // Couplings that lead anywhere, which METIS takes much more memory for, and those of a grid.
  check_forecast(generate("irregular:150000,bandwidth=149000", "a.npz") + " --partition metis",
                 {2, 3});
  check_forecast(generate("poisson3d:70", "b.npz") + " --partition metis", {2, 3});
  for (const std::string ending : {"mtx", "petsc", "h5"})
    check_forecast(generate("poisson3d:70", "c." + ending) + " --method cg", {1, 3});
}

TEST_CASE("a dry run tells the forecast and takes no memory") {
  for (std::vector<std::string> words : {std::vector<std::string>{"solve", "poisson3d:3000"},
                                         {"spmv", "poisson3d:3000"},
                                         {"jacobi", "--grid", "9000"},
                                         {"jacobi", "poisson3d:3000"},
                                         {"schwarz", "--subdomains", "8192", "--points", "64"}}) {
    words.insert(words.end(), {"--threads", "1", "--dry-run"});
    const auto result = run_weft(2, words);
    INFO(words.front() << ": " << result.errors);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.output, Catch::Contains("forecast     ") && Catch::Contains("TB per rank"));
  }
}

TEST_CASE("where a trial chooses the local solver, the forecast is that of the larger one") {
  const auto bytes_of_solvers = [](const std::string& local_solver) {
    const auto report = report_of(run_weft(
        1, {"schwarz", "--subdomains", "4", "--points", "128", "--overlap", "4", "--local-solver",
            local_solver, "--threads", "1", "--dry-run", "--json", "-"}));
    return report["memory"]["forecast"]["parts"]["solvers"].get<double>();
  };
  CHECK(bytes_of_solvers("auto") == bytes_of_solvers("cholmod"));
  CHECK(bytes_of_solvers("auto") > 2 * bytes_of_solvers("tensor"));
}

TEST_CASE("a problem that no node has the memory for is refused at once") {
  for (const std::string problem : {"poisson3d27:1291", "poisson3d:3000"})
    for (const std::string command : {"solve", "spmv"}) {
      const auto result = run_weft(2, {command, problem, "--threads", "1"});
      INFO(command << " " << problem << ": " << result.errors);
      CHECK(result.exit_code == 2);
      CHECK_THAT(result.errors, Catch::Contains("expected"));
    }
  // Without a matrix, and rows of which a sample would take minutes.
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"jacobi", "--grid", "9000"},
        {"schwarz", "--subdomains", "8192", "--points", "8192"},
        {"compare", "poisson3d:9000", "--operator", "stencil"},
        {"solve", "irregular:2000000000,nnzr=100"}}) {
    const auto refused = run_weft(2, words);
    INFO(words.front() << ": " << refused.errors);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.errors, Catch::Contains("more on a node"));
  }
  const auto result = run_weft(2, {"solve", "poisson3d27:1291", "--threads", "1"});
  CHECK_THAT(result.errors, Catch::StartsWith("weft: poisson3d27:1291: needs "));
}

TEST_CASE("schwarz cuts the graph of a matrix from a file unless it is told otherwise") {
  const ScratchFolder folder;
  const std::string file = folder.path("matrix.mtx");
  CHECK(run_weft(1, {"generate", "poisson2d:40", file}).exit_code == 0);
  const auto partition = [&](const std::string& matrix, const std::string& preconditioner) {
    const auto report = report_of(run_weft(
        1, {"solve", matrix, "--threads", "1", "--json", "-", "--preconditioner", preconditioner}));
    return report["schwarz_preconditioner"]["partition"].get<std::string>();
  };
  CHECK(partition(file, "schwarz:subdomains=4") == "metis");
  CHECK(partition(file, "schwarz:subdomains=4,partition=rows") == "rows");
  CHECK(partition("poisson2d:40", "schwarz:subdomains=4") == "rows");
}
