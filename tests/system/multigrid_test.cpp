// Multigrid in whole solves: iterations by settings and couplings, and what is said of each grid.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::faults_of_solve_report;
using weft::tests::read_file;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

json report_of_solve(int ranks, const std::string& problem, std::vector<std::string> more) {
  std::vector<std::string> arguments{"solve",     problem, "--operator", "stencil",
                                     "--threads", "1",     "--json",     "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto result = run_weft(ranks, arguments);
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  CHECK(faults_of_solve_report(report) == "");
  return report;
}

int iterations_of(const std::string& problem, const std::string& settings) {
  return report_of_solve(1, problem, {"--method", "multigrid", "--multigrid", settings})
      .value("iterations", 1000);
}

}  // namespace

TEST_CASE("multigrid takes at most nine cycles whatever the couplings") {
  bool has_three = true;
  for (const std::string weights :
       {"1,1,10", "1,10,1", "10,1,1", "1,1,100", "1,100,1", "100,1,1", "1,1,1000", "1,1000,1",
        "1000,1,1", "100,100,1", "100,1,100", "1,100,100", "1,10,100", "1,1,2.2", "1,1,30"}) {
    CAPTURE(weights);
    const std::string problem = "anisotropic3d:80," + weights;
    CHECK(iterations_of(problem, "steps=2") <= 9);
    CHECK(iterations_of(problem, has_three ? "steps=3" : "steps=4") <= (has_three ? 7 : 6));
    has_three = !has_three;
  }
}

TEST_CASE("the report has every grid with its ranks, traffic and halos") {
  for (const int ranks : {1, 4})
    for (const bool is_method : {true, false}) {
      CAPTURE(ranks, is_method);
      const json report = report_of_solve(
          ranks, "poisson3d:40",
          is_method ? std::vector<std::string>{"--method", "multigrid", "--multigrid", "gather=12"}
                    : std::vector<std::string>{"--preconditioner", "multigrid", "--multigrid",
                                               "gather=12"});
      const json& multigrid = report["multigrid"];
      CHECK(multigrid.value("steps", 0) == 2);
      CHECK(multigrid.value("cycles", 0) >= report.value("iterations", 0));
      const json& levels = multigrid["levels"];
      CHECK(levels.size() == 3);
      const std::vector<int> sizes{40, 20, 10};
      for (std::size_t i = 0; i < levels.size(); ++i) {
        CHECK(levels[i]["grid"] == json({sizes[i], sizes[i], sizes[i]}));
        CHECK(levels[i].contains("up") == (i + 1 < levels.size()));
        CHECK(levels[i]["down"].value("seconds", 0.0) > 0);
      }
      // Boxes of 20 points in two directions, then of 10: too few.
      CHECK(levels[0].value("ranks", 0) == ranks);
      CHECK(levels[1].value("ranks", 0) == 1);
      CHECK(levels[0]["down"].value("model_bytes_per_point", 0.0) == (is_method ? 25 : 5));
      CHECK(levels[0]["up"].value("model_bytes_per_point", 0.0) == (is_method ? 28.5 : 20.5));
      CHECK(levels[1]["down"].value("model_bytes_per_point", 0.0) == 5);
      CHECK(levels[1]["up"].value("model_bytes_per_point", 0.0) == 12.5);
      const json& halo = levels[0]["down"]["halo"];
      CHECK(halo.value("messages", -1) == (ranks == 1 ? 0 : 12));
      // Each of four boxes of 40×20×20 points sends two sides and an edge of it: four points deep
      // and in double precision, or three and in single.
      CHECK(halo.value("bytes", -1) == (ranks == 1  ? 0
                                        : is_method ? 4 * 8 * 40 * (2 * 4 * 20 + 4 * 4)
                                                    : 4 * 4 * 40 * (2 * 3 * 20 + 3 * 3)));
      CHECK((halo.value("seconds_alone", -1.0) > 0) == (ranks > 1));
    }
}

TEST_CASE("multigrid allocates what its documents say") {
  const auto bytes = [](const std::string& settings) {
    return report_of_solve(1, "poisson3d:128",
                           {"--method", "multigrid", "--multigrid", settings})["multigrid"]
        .value("allocated_bytes_per_row", 0.0);
  };
  // 9.1; with rims and with rows of whole cache lines up to a third more.
  const double zero = bytes("start=zero");
  CHECK(zero > 9.1);
  CHECK(zero < 1.4 * 9.1);
  const double full = bytes("start=full");
  CHECK(full > zero + 1.14);
  CHECK(full < zero + 2.1);
}

TEST_CASE("a trace has a span for each pass on each grid") {
  const ScratchFolder folder;
  const auto file = folder.path("trace.json");
  const json report =
      report_of_solve(2, "poisson3d:24", {"--method", "multigrid", "--trace", file});
  const json trace = json::parse(read_file(file), nullptr, false);
  CHECK_FALSE(trace.is_discarded());
  std::set<std::string> names;
  for (const json& event : trace["traceEvents"]) names.insert(event.value("name", ""));
  for (const std::string name :
       {"grid 0 down", "grid 1 down", "coarsest grid", "grid 1 up", "grid 0 up"})
    CHECK(names.contains(name));
}

TEST_CASE("a study of multigrid has a history of every method and number of steps") {
  const auto result =
      run_weft(2, {"study", "multigrid", "poisson3d:20", "anisotropic3d:16,1,1,10", "--steps",
                   "1,auto", "--precisions", "single,double", "--multigrid", "start=full",
                   "--repetitions", "1", "--threads", "1", "--json", "-"});
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  CHECK(report["study"]["parameter"] == "multigrid");
  CHECK(report["study"]["problems"].size() == 2);
  for (const json& problem : report["study"]["problems"]) {
    CHECK(problem["runs"].size() == 8);
    std::multiset<int> steps;
    for (const json& run : problem["runs"]) {
      CHECK(run["status"] == "converged");
      CHECK(run["history"].size() == run.value("iterations", std::size_t{0}) + 1);
      CHECK(run["history"].back()[1] < 1e-8);
      steps.insert(run.value("steps", -1));
      CHECK(run["multigrid"].value("precision", "") == run.value("precision", "none"));
    }
    CHECK(steps == std::multiset<int>{1, 1, 1, 1, 2, 2, 2, 2});
  }
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--steps", "0"},
                                                {"--steps", "2,some"},
                                                {"--multigrid", "steps=2"},
                                                {"--multigrid", "precision=double"},
                                                {"--multigrid", "frob"}}) {
    std::vector<std::string> arguments{"study", "multigrid", "poisson3d:9"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    const auto refused = run_weft(2, arguments);
    INFO(refused.errors);
    CHECK(refused.exit_code == 2);
    CHECK(refused.errors.find("expected") != std::string::npos);
  }
}

TEST_CASE("multigrid is a method for matrices and for coefficients that vary, and auto finds it") {
  const auto report_of_run = [](int ranks, std::vector<std::string> more) {
    std::vector<std::string> arguments{"solve", "--threads", "1", "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run_weft(ranks, arguments);
    INFO(result.errors);
    CHECK(result.exit_code == 0);
    return report_of(result);
  };
  const std::string problem = "diffusion3d:24x20x22,lognormal:2";
  for (const int ranks : {1, 2}) {
    CAPTURE(ranks);
    const json stencil =
        report_of_run(ranks, {problem, "--operator", "stencil", "--preconditioner", "multigrid"});
    const json matrix = report_of_run(ranks, {problem, "--preconditioner", "multigrid"});
    CHECK(stencil.value("iterations", -1) == matrix.value("iterations", 0));
    CHECK(report_of_run(ranks, {problem, "--method", "multigrid"}).value("iterations", 100) < 25);
    CHECK(report_of_run(ranks, {"poisson3d:24", "--method", "multigrid"}).value("iterations", 0) ==
          7);
    const json chosen = report_of_run(ranks, {"diffusion3d:40,lognormal:1", "--method", "auto"});
    CHECK(chosen["method_choice"].get<std::string>().find("with multigrid") != std::string::npos);
    const json grid = report_of_run(ranks, {"poisson3d:24", "--operator", "stencil", "--method",
                                            "multigrid", "--multigrid", "cycle=v"});
    CHECK(grid.value("iterations", 0) == 7);
    CHECK(grid["multigrid"]["gathering"].value("is_chosen", false) == (ranks > 1));
  }
  for (const std::string wrong : {"cycle=w", "gather=0", "start=cold"}) {
    const auto refused = run_weft(2, {"solve", "poisson3d:9", "--operator", "stencil", "--method",
                                      "multigrid", "--multigrid", wrong});
    CHECK(refused.exit_code == 2);
    CHECK(refused.errors.find("expected") != std::string::npos);
  }
}

TEST_CASE("a matrix from a file is solved as its generator's is, on the grid that is named") {
  const ScratchFolder folder;
  const std::string problem = "diffusion3d:24x20x16,jumps:1000";
  const std::string file = folder.path("matrix.mtx");
  CHECK(run_weft(1, {"generate", problem, file}).exit_code == 0);
  const auto solution_of = [&](int ranks, const std::vector<std::string>& words) {
    const std::string solution = folder.path("x.mtx");
    std::vector<std::string> arguments{"solve"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    for (const std::string word :
         {"--preconditioner", "multigrid", "--rhs", "random:3", "--threads", "1", "--solution"})
      arguments.push_back(word);
    arguments.push_back(solution);
    const auto result = run_weft(ranks, arguments);
    INFO(result.errors);
    CHECK(result.exit_code == 0);
    return read_file(solution);
  };
  const std::string expected = solution_of(1, {problem});
  CHECK(expected.size() > 7680U);  // 24·20·16 lines
  for (const int ranks : {1, 3}) {
    CAPTURE(ranks);
    CHECK(solution_of(ranks, {file, "--grid", "24x20x16"}) == expected);
    CHECK(solution_of(ranks, {problem, "--mode", "vector"}) == expected);
  }
}

TEST_CASE("multigrid builds no matrix on large grids unless something needs one") {
  const auto has_matrix = [](std::vector<std::string> more) {
    std::vector<std::string> arguments{"solve", "--threads", "1", "--max-iterations",
                                       "2",     "--json",    "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const json report = report_of(run_weft(1, arguments));
    return report["performance"]["matrix_format"].get<std::string>().find("no matrix") ==
           std::string::npos;
  };
  CHECK_FALSE(has_matrix({"poisson3d:32", "--method", "multigrid"}));
  CHECK_FALSE(has_matrix({"diffusion3d:32,lognormal:1", "--preconditioner", "multigrid"}));
  CHECK_FALSE(has_matrix({"poisson3d:32", "--method", "auto"}));
  CHECK(has_matrix({"poisson3d:20", "--method", "multigrid"}));  // a small grid
  CHECK(has_matrix({"poisson3d:32", "--method", "cg"}));
  CHECK(has_matrix({"poisson3d:32", "--method", "multigrid", "--format", "crs"}));
  CHECK(has_matrix({"poisson3d:32", "--method", "multigrid", "--operator", "matrix"}));
}

TEST_CASE("auto makes no trial where multigrid is bound to win") {
  const auto choice_of = [](const std::string& problem) {
    return report_of(
        run_weft(1, {"solve", problem, "--method", "auto", "--threads", "1", "--json", "-"}));
  };
  CHECK(choice_of("poisson3d:40")["method"] == "multigrid");
  const json varying = choice_of("diffusion3d:40,lognormal:1");
  CHECK(varying["method"] == "cg");
  CHECK(varying["preconditioner"] == "multigrid");
  CHECK(varying["status"] == "converged");
}
