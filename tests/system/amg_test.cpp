// Algebraic multigrid in whole solves: the same bits on any ranks, and what is said of each level.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
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

/// A report of a solve that converged, checked.
json converged(int ranks, const std::string& problem, std::vector<std::string> more) {
  std::vector<std::string> arguments{"solve", problem, "--json", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto result = run_weft(ranks, arguments);
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  CHECK(faults_of_solve_report(report) == "");
  CHECK(report.value("status", "") == "converged");
  CHECK(report.value("relative_residual", 1.0) < 1.1e-8);
  return report;
}

/// The bytes of NumPy's array.
std::string npy_of(int rows, int columns, const std::vector<double>& values) {
  std::string header("\x93NUMPY\x01\x00", 8);
  std::string words = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows) +
                      ", " + std::to_string(columns) + "), }";
  words.resize(117, ' ');
  words += '\n';
  header += static_cast<char>(words.size());
  header += '\0';
  header += words;
  std::string bytes(values.size() * sizeof(double), ' ');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return header + bytes;
}

void check_refused(int ranks, const std::vector<std::string>& arguments,
                   const std::string& message) {
  const auto result = run_weft(ranks, arguments);
  INFO(ranks << " ranks\n" << result.errors);
  CHECK(result.exit_code == 2);
  CHECK(result.output.empty());
  CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
  CHECK(result.errors.find(message) != std::string::npos);
  CHECK(result.errors.find("expected") != std::string::npos);
}

}  // namespace

TEST_CASE("a solve with amg has the same bits on any ranks, threads, modes and formats") {
  const ScratchFolder folder;
  for (const std::string problem : {"poisson3d:20", "diffusion3d:16,lognormal:2"}) {
    CAPTURE(problem);
    struct Run {
      int ranks;
      std::vector<std::string> more;
    };
    const std::vector<Run> runs{{1, {"--threads", "1", "--mode", "vector"}},
                                {2, {"--threads", "2", "--mode", "task"}},
                                {3, {"--threads", "1", "--mode", "overlap", "--format", "crs"}},
                                {5, {"--threads", "1", "--mode", "overlap-test"}}};
    std::string expected;
    std::int64_t iterations = 0;
    for (const Run& run : runs) {
      CAPTURE(run.ranks);
      std::vector<std::string> more{"--preconditioner", "amg:direct=100", "--solution",
                                    folder.path("x.mtx")};
      more.insert(more.end(), run.more.begin(), run.more.end());
      const json report = converged(run.ranks, problem, more);
      const std::string solution = read_file(folder.path("x.mtx"));
      if (expected.empty()) {
        expected = solution;
        iterations = report["iterations"];
      }
      CHECK(report["iterations"] == iterations);
      CHECK(weft::tests::fingerprint(solution) == weft::tests::fingerprint(expected));
    }
  }
}

TEST_CASE("elasticity from a file and its coordinates is that of the generator, on any ranks") {
  const ScratchFolder folder;
  const std::string problem = "elasticity3d:6x3x2";
  const std::string file = folder.path("a.mtx");
  CHECK(run_weft(1, {"generate", problem, file}).exit_code == 0);
  std::string coordinates = "%%MatrixMarket matrix array real general\n72 3\n";
  std::string constants = "%%MatrixMarket matrix array real general\n216 3\n";
  for (int axis = 0; axis < 3; ++axis)
    for (int node = 0; node < 72; ++node) {
      const int places[] = {node % 6 + 1, node / 6 % 4, node / 24};
      coordinates += std::to_string(places[axis]) + "\n";
      for (int row = 0; row < 3; ++row) constants += row == axis ? "1\n" : "0\n";
    }
  folder.write("xyz.mtx", coordinates);
  folder.write("constants.mtx", constants);
  std::vector<double> xyz;
  std::vector<double> ones;
  for (int node = 0; node < 72; ++node) {
    for (const int place : {node % 6 + 1, node / 6 % 4, node / 24}) xyz.push_back(place);
    for (int row = 0; row < 3; ++row)
      for (int axis = 0; axis < 3; ++axis) ones.push_back(row == axis ? 1 : 0);
  }
  folder.write("xyz.npy", npy_of(72, 3, xyz));
  folder.write("constants.npy", npy_of(216, 3, ones));
  const std::vector<std::string> common{"--preconditioner", "amg:direct=20",     "--rhs",
                                        "random:3",         "--threads",         "1",
                                        "--solution",       folder.path("x.mtx")};
  const auto solution_of = [&](int ranks, const std::string& of, std::vector<std::string> more) {
    more.insert(more.end(), common.begin(), common.end());
    converged(ranks, of, more);
    return weft::tests::fingerprint(read_file(folder.path("x.mtx")));
  };
  const auto expected = solution_of(1, problem, {});
  const auto with_constants = solution_of(1, problem, {"--block-size", "3"});
  CHECK(with_constants != expected);
  for (const int ranks : {1, 5}) {
    CAPTURE(ranks);
    CHECK(solution_of(ranks, file, {"--coordinates", folder.path("xyz.mtx")}) == expected);
    CHECK(solution_of(ranks, file, {"--coordinates", folder.path("xyz.npy")}) == expected);
    CHECK(solution_of(ranks, file,
                      {"--near-null", folder.path("constants.npy"), "--block-size", "3"}) ==
          with_constants);
    CHECK(solution_of(ranks, file,
                      {"--near-null", folder.path("constants.mtx"), "--block-size", "3"}) ==
          with_constants);
  }
  constexpr int ranks = 2;
  check_refused(
      ranks,
      {"solve", file, "--preconditioner", "amg", "--coordinates", folder.path("constants.mtx")},
      "--coordinates " + folder.path("constants.mtx"));
  check_refused(ranks,
                {"solve", file, "--preconditioner", "amg", "--near-null", folder.path("xyz.mtx")},
                "--near-null " + folder.path("xyz.mtx"));
  for (const std::string name : {"constants.npy", "missing.npy"})
    check_refused(ranks,
                  {"solve", file, "--preconditioner", "amg", "--coordinates", folder.path(name)},
                  name);
  check_refused(ranks, {"solve", file, "--preconditioner", "amg", "--block-size", "5"},
                "--block-size 5");
  check_refused(ranks, {"solve", file, "--block-size", "3", "--preconditioner", "jacobi"},
                "--block-size");
  check_refused(ranks,
                {"solve", file, "--coordinates", folder.path("xyz.mtx"), "--preconditioner", "amg",
                 "--order", "rcm"},
                "--order rcm");
}

TEST_CASE("elasticity from a file without options finds its nodes, the same on any ranks") {
  const ScratchFolder folder;
  const std::string file = folder.path("bar.petsc");
  CHECK(run_weft(1, {"generate", "elasticity3d:12x6x6", file}).exit_code == 0);
  const auto solve = [&](int ranks, const std::string& of, std::vector<std::string> more) {
    more.insert(more.end(), {"--preconditioner", "amg:direct=60", "--rhs", "ones", "--solution",
                             folder.path("x.mtx")});
    return converged(ranks, of, more);
  };
  const auto solution = [&] { return weft::tests::fingerprint(read_file(folder.path("x.mtx"))); };
  const json known = solve(1, "elasticity3d:12x6x6", {});
  const json estimated = solve(1, file, {"--coordinates", "estimated", "--order", "given"});
  const auto expected = solution();
  CHECK(2 * estimated["iterations"].get<int>() <= 3 * known["iterations"].get<int>());
  CHECK(!estimated.contains("decisions"));
  for (const int ranks : {1, 2, 3}) {
    CAPTURE(ranks);
    const json found = solve(ranks, file, {"--threads", ranks == 1 ? "2" : "1"});
    CHECK(solution() == expected);
    CHECK(found["decisions"].back().get<std::string>().find("--coordinates estimated: 3") == 0);
  }
  const json constants = solve(2, file, {"--block-size", "3"});
  CHECK(constants["iterations"].get<int>() > estimated["iterations"].get<int>());
  CHECK(!solve(2, file, {"--block-size", "1"}).contains("decisions"));
  check_refused(
      2, {"solve", "poisson2d:30x30", "--preconditioner", "amg", "--coordinates", "estimated"},
      "--coordinates estimated: found 1 rows a node");
  check_refused(2,
                {"solve", "poisson2d:30x30", "--preconditioner", "amg", "--coordinates",
                 "estimated", "--block-size", "2"},
                "--coordinates estimated: found a matrix that is not of elasticity");
}

TEST_CASE("cycles of amg are compared") {
  const auto result = run_weft(2, {"study", "amg", "poisson3d:20", "--cycles", "V,W",
                                   "--repetitions", "1", "--threads", "1", "--json", "-"});
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  const json& runs = report["study"]["problems"][0]["runs"];
  CHECK(runs.size() == 2);
  for (const json& run : runs) {
    CAPTURE(run["cycle"].get<std::string>());
    CHECK(run["status"] == "converged");
    CHECK(run["amg"]["cycle"] == run["cycle"]);
    CHECK(run["messages_per_cycle"].get<int>() > 0);
    CHECK(run["hidden_fraction"].get<double>() >= 0);
    CHECK(run["hidden_fraction"].get<double>() <= 1);
  }
  CHECK(runs[1]["iterations"].get<int>() <= runs[0]["iterations"].get<int>());
  CHECK(runs[1]["messages_per_cycle"].get<int>() >= runs[0]["messages_per_cycle"].get<int>());
  check_refused(2, {"study", "amg", "poisson3d:8", "--degrees", "5"}, "--degrees: found 5");
}

TEST_CASE("the report has every level with its rows, memory, messages and times") {
  for (const int ranks : {1, 3}) {
    CAPTURE(ranks);
    const json report =
        converged(ranks, "poisson3d:24", {"--preconditioner", "amg", "--threads", "1"});
    CHECK(report["preconditioner"] == "amg");
    const json& amg = report["amg"];
    CHECK(amg["cycle"] == "V");
    CHECK(amg["degree"] == 2);
    CHECK(amg["precision"] == "single");
    CHECK(amg["gathering"] == json{{"rows", 1000}, {"is_chosen", true}});
    CHECK(amg.value("operator_complexity", 0.0) > 1);
    CHECK(amg.value("operator_complexity", 9.0) < 1.8);
    CHECK(amg.value("cycles", 0) >= report.value("iterations", 100));
    CHECK(amg["allocated_bytes"].value("max", 0.0) > 12.0 * 13824 / ranks);
    const json& levels = amg["levels"];
    CHECK(levels.size() == 3);
    CHECK(levels[0]["rows"] == 24 * 24 * 24);
    CHECK(levels[0]["nonzeros"] == report["problem"]["nonzeros"]);
    double nonzeros = 0;
    for (const json& level : levels) {
      nonzeros += level["nonzeros"].get<double>();
      const bool is_last = &level == &levels.back();
      CHECK(level["solved"] == (is_last ? "directly" : "by smoothing"));
      CHECK(level.contains("largest_eigenvalue") == !is_last);
      CHECK(level.value("setup_seconds", 0.0) > 0);
      CHECK(level.value("seconds", 0.0) > 0);
    }
    CHECK(nonzeros / levels[0]["nonzeros"].get<double>() ==
          Approx(amg["operator_complexity"].get<double>()));
    CHECK((levels[0]["halo"].value("messages", -1) > 0) == (ranks > 1));
    CHECK(levels[0]["ranks"] == ranks);
    const json& halo = levels[0]["halo"];
    CHECK((halo.value("seconds_alone", -1.0) > 0) == (ranks > 1));
    CHECK(halo.value("hidden_fraction", -1.0) >= 0);
    CHECK(halo.value("hidden_fraction", 2.0) <= 1);
    CHECK(levels[1]["ranks"] == 1);  // about 1300 rows
  }
}

TEST_CASE("where a coarse level is depends on a latency or on a given number, and no bit on it") {
  const ScratchFolder folder;
  const std::string solution = folder.path("x.mtx");
  std::string expected;
  for (const std::string gather : {"auto", "1", "3000"}) {
    CAPTURE(gather);
    const json report = converged(
        2, "poisson3d:32",
        {"--preconditioner", "amg:gather=" + gather, "--threads", "1", "--solution", solution});
    const json& gathering = report["amg"]["gathering"];
    CHECK(gathering["is_chosen"] == (gather == "auto"));
    CHECK(gathering["rows"] == (gather == "auto" ? 1000 : std::stoi(gather)));
    CHECK((gathering.value("latency_seconds", 0.0) > 0) == (gather == "auto"));
    if (gather != "auto") CHECK(report["amg"]["levels"][1]["ranks"] == (gather == "1" ? 2 : 1));
    if (expected.empty()) expected = read_file(solution);
    CHECK(read_file(solution) == expected);
  }
}

TEST_CASE("the summary has a table of the levels") {
  const auto result = run_weft(2, {"solve", "poisson3d:24", "--preconditioner", "amg"});
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  for (const std::string text : {"amg: V cycle, degree 2, single precision, operator complexity 1.",
                                 "level ", "direct ", "ms/cycle", "messages"})
    CHECK(result.output.find(text) != std::string::npos);
}

TEST_CASE("settings of amg do what they say") {
  const auto amg_of = [](const std::string& settings) {
    return converged(1, "diffusion3d:16,lognormal:2",
                     {"--preconditioner", "amg:" + settings, "--threads", "1"});
  };
  const json plain = amg_of("cycle=V");
  CHECK(amg_of("degree=4").value("iterations", 1000) < plain.value("iterations", 0));
  CHECK(amg_of("degree=1").value("iterations", 0) > plain.value("iterations", 1000));
  CHECK(amg_of("precision=double")["amg"]["precision"] == "double");
  CHECK(amg_of("precision=double").value("iterations", 0) == plain.value("iterations", 1));
  CHECK(amg_of("direct=4000")["amg"]["levels"].size() <= plain["amg"]["levels"].size());
  CHECK(amg_of("strength=0.9")["amg"].value("operator_complexity", 0.0) !=
        plain["amg"].value("operator_complexity", 0.0));
}

TEST_CASE("tight tolerances are reached with levels in single precision") {
  const json report =
      converged(2, "poisson3d:16", {"--preconditioner", "amg:direct=50", "--tolerance", "1e-13"});
  CHECK(report.value("relative_residual", 1.0) < 1.1e-13);
  CHECK(report.value("iterations", 1000) < 20);
}

TEST_CASE("what amg cannot do is refused in one line on any number of ranks") {
  const ScratchFolder folder;
  const std::string negative = folder.write(
      "negative.mtx",
      "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 2 -2\n3 3 2\n2 1 -1\n");
  const std::string indefinite = folder.write(
      "indefinite.mtx",
      "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 2 1\n2 1 -3\n");
  const std::string problem = "poisson3d:8";
  for (const int ranks : {1, 3}) {
    check_refused(ranks, {"solve", negative, "--preconditioner", "amg"},
                  "row 2 has -2 on the diagonal");
    check_refused(ranks, {"solve", indefinite, "--preconditioner", "amg"},
                  "not positive semidefinite");
    check_refused(ranks, {"solve", problem, "--operator", "stencil", "--preconditioner", "amg"},
                  "found amg with --operator stencil");
  }
  check_refused(1, {"solve", problem, "--method", "pcg-jacobi", "--preconditioner", "amg"},
                "found amg with --method pcg-jacobi");
  for (const std::string settings : {"degree=5", "strength=2", "gather=0", "direct=0", "degree"})
    check_refused(1, {"solve", problem, "--preconditioner", "amg:" + settings},
                  "found '" + settings + "'");
  check_refused(1, {"solve", problem, "--preconditioner", "amg:cycle=F"}, "found the cycle 'F'");
}
