// weft spmv, eigen, generate and topology as whole programs.
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::fingerprint;
using weft::tests::read_file;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

void check_spmv(int ranks, const std::string& modes, const std::set<std::string>& expected) {
  INFO(ranks << " ranks, modes " << modes);
  const auto result = run_weft(ranks, {"spmv", "poisson3d:12", "--mode", modes, "--repetitions",
                                       "3", "--threads", "1", "--json", "-"});
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  CHECK(report.value("command", "") == "spmv");
  CHECK(report.value("bits_equal", false));
  std::set<std::string> found;
  for (const auto& [mode, times] : report["modes"].items()) {
    found.insert(mode);
    CHECK(times.value("seconds", 0.0) > 0);
    CHECK(times.value("spread", -1.0) >= 0);
    CHECK(times.value("gflops", 0.0) > 0);
  }
  CHECK(found == expected);
}

/// What is wrong with the form of storage that a report says, and with the times that decided.
std::string faults_of_storage(const json& performance) {
  const auto format = performance.value("matrix_format", "");
  const json seconds = performance.value("product_seconds", json::object());
  if (seconds.size() != 2) return "found " + seconds.dump() + "; expected two times";
  const double crs = seconds.value("CRS", 0.0);
  const double sell = seconds.value("SELL-8", 0.0);
  if (!(crs > 0 && sell > 0)) return "found " + seconds.dump() + "; expected times";
  const std::string quicker = sell < 0.95 * crs ? "SELL-8" : "CRS";
  return format == quicker ? "" : "found " + format + " with " + seconds.dump();
}

/// The iterations and the solution file of one solve.
std::string outcome(const std::string& problem, const std::string& right_hand_side, int ranks) {
  const ScratchFolder folder;
  const auto result =
      run_weft(ranks, {"solve", problem, "--method", "cg", "--rhs", right_hand_side, "--threads",
                       "1", "--solution", folder.path("x.mtx"), "--json", "-"});
  CHECK(result.exit_code == 0);
  return report_of(result)["iterations"].dump() + " iterations, " +
         fingerprint(read_file(folder.path("x.mtx")));
}

/// Written on `ranks` ranks, and solved on as many.
void check_generated(const std::string& problem, const std::string& file_name, int ranks) {
  const ScratchFolder folder;
  const auto file = folder.path(file_name);
  INFO(problem << " in " << file_name << ", " << ranks << " ranks");
  const auto result = run_weft(ranks, {"generate", problem, file, "--threads", "1"});
  CHECK(result.exit_code == 0);
  CHECK(folder.names() == std::vector<std::string>{file_name});
  CHECK(outcome(file, "random:3", ranks) == outcome(problem, "random:3", ranks));
}

/// Planned hardware threads of all threads of all ranks.
std::vector<int> planned_pus(const json& report) {
  std::vector<int> pus;
  for (const json& rank : report["audit"])
    for (const json& thread : rank["threads"]) pus.push_back(thread.value("planned_pu", -1));
  return pus;
}

}  // namespace

TEST_CASE("eigen finds both copies of a value, writes vectors and refuses what has none") {
  const ScratchFolder folder;
  std::set<std::string> fingerprints;
  for (const int ranks : {1, 3}) {
    const auto result = run_weft(ranks, {"eigen", "poisson2d:40", "--count", "3", "--threads", "1",
                                         "--vectors", folder.path("x.npy"), "--json", "-"});
    CHECK(result.exit_code == 0);
    const json report = report_of(result);
    CHECK(report.value("status", "") == "converged");
    const json pairs = report["eigenvalues"]["pairs"];
    REQUIRE(pairs.size() == 3);
    // 4 − 2·cos(π·i/41) − 2·cos(π·k/41)
    CHECK(pairs[0]["value"].get<double>() == Approx(0.0117367953).epsilon(1e-6));
    CHECK(pairs[1]["value"].get<double>() == Approx(0.0293075501).epsilon(1e-6));
    CHECK(pairs[2]["value"].get<double>() == Approx(pairs[1]["value"].get<double>()).epsilon(1e-9));
    CHECK(report["eigenvalues"].value("complete", false));
    CHECK(report["eigenvalues"].value("statement", "") == "complete");
    CHECK(pairs[2]["error_bound"].get<double>() < 1e-9);
    fingerprints.insert(fingerprint(read_file(folder.path("x.npy"))) + pairs.dump());
  }
  CHECK(fingerprints.size() == 1);

  const auto unfinished = run_weft(1, {"eigen", "poisson2d:40", "--max-restarts", "0", "--count",
                                       "20", "--tolerance", "1e-12", "--threads", "1"});
  CHECK(unfinished.exit_code == 3);
  // A block of one vector sees one of two equal values at a time, and looks for more.
  const auto narrow = run_weft(2, {"eigen", "poisson2d:300", "--count", "4", "--block", "1",
                                   "--threads", "1", "--json", "-"});
  CHECK(narrow.exit_code == 0);
  CHECK(report_of(narrow)["eigenvalues"].value("complete", false));
  const std::string unsymmetric = folder.write(
      "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 2 5\n2 2 1\n");
  const auto refused = run_weft(2, {"eigen", unsymmetric, "--triangle", "as-is", "--threads", "1"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.errors.find("found 5 at row 1, column 2 and 0 at row 2, column 1; expected a "
                            "symmetric matrix") != std::string::npos);
  const auto too_many = run_weft(1, {"eigen", "poisson2d:40", "--count", "1000", "--threads", "1"});
  CHECK(too_many.exit_code == 2);
  CHECK(too_many.errors.find("--count: found 1000; expected 1 to 200") != std::string::npos);
}

TEST_CASE("eigen says how many copies of a value are missing, and ends with exit code 3") {
  const ScratchFolder folder;
  // Fifteen values with forty copies each.
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n600 600 600\n";
  for (int i = 0; i < 600; ++i) {
    const std::string row = std::to_string(i + 1) + " ";
    text += row + row + std::to_string(1 + 0.5 * (i / 40)) + "\n";
  }
  const auto result =
      run_weft(2, {"eigen", folder.write("copies.mtx", text), "--count", "50", "--method",
                   "lanczos", "--block", "1", "--threads", "1", "--json", "-"});
  CHECK(result.exit_code == 3);
  const json found = report_of(result)["eigenvalues"];
  CHECK_FALSE(found.value("complete", true));
  CHECK(found.value("statement", "") == "not shown to be complete");
  int copies = 0;
  for (const json& pair : found["pairs"]) copies += pair["value"].get<double>() < 1.25 ? 1 : 0;
  CHECK(copies < 40);
  CHECK(found.value("missing", 0) == 40 - copies);
}

TEST_CASE("eigen and spectrum refuse a matrix whose norm is no double or has no reciprocal") {
  const ScratchFolder folder;
  const std::string head = "%%MatrixMarket matrix coordinate real symmetric\n";
  for (const char* const rows :
       {"2 2 3\n1 1 1e308\n2 1 1e308\n2 2 1e308\n", "2 2 2\n1 1 1e-320\n2 2 2e-320\n"})
    for (const char* const command : {"eigen", "spectrum"}) {
      const auto refused = run_weft(2, {command, folder.write("a.mtx", head + rows)});
      CHECK(refused.exit_code == 2);
      CHECK(refused.errors.find("found a row whose absolute values add up to") !=
            std::string::npos);
    }
}

TEST_CASE(
    "eigen finds values near a number, in an interval and from both ends, with the same bits") {
  const std::vector<std::vector<std::string>> searches{{"--which", "near:2.503", "--count", "6"},
                                                       {"--interval", "2.5:2.53"},
                                                       {"--which", "both", "--count", "5"},
                                                       {"--method", "lanczos-two-pass"}};
  for (const auto& search : searches) {
    std::set<std::string> found;
    for (const int ranks : {1, 2}) {
      std::vector<std::string> words{"eigen", "poisson2d:30", "--threads", "1", "--json", "-"};
      words.insert(words.end(), search.begin(), search.end());
      const auto result = run_weft(ranks, words);
      CHECK(result.exit_code == 0);
      const json report = report_of(result);
      CHECK(report.value("why_method", "") != "");
      CHECK(report["eigenvalues"].value("complete", false));
      CHECK(report["eigenvalues"]["pairs"].size() == (search[0] == "--method"  ? 1
                                                      : search[1] == "both"    ? 5
                                                      : search[0] == "--which" ? 6
                                                                               : 4));
      found.insert(report["eigenvalues"]["pairs"].dump());
    }
    CHECK(found.size() == 1);
  }
}

TEST_CASE("eigen refuses parts of the spectrum that are none") {
  const auto refused = [](const std::vector<std::string>& more, const std::string& text) {
    std::vector<std::string> words{"eigen", "poisson2d:30", "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = run_weft(1, words);
    INFO(result.errors);
    CHECK(result.exit_code == 2);
    CHECK(result.errors.find(text) != std::string::npos);
  };
  refused({"--interval", "9:10"}, "--interval 9:10: found no eigenvalue");
  refused({"--interval", "2:1"}, "found '2:1'; expected A:B");
  refused({"--which", "near:x"}, "found 'near:x'; expected smallest, largest, both or near:SIGMA");
  refused({"--interval", "1:2", "--count", "3"}, "--count: found with --interval");
  refused({"--which", "near:2", "--method", "lanczos"},
          "--method lanczos: found --which near:2; expected --method filter");
  refused({"--method", "filter"}, "--method filter: found --which smallest; expected");
  refused({"--which", "both"}, "--which both: found --count 1; expected 2 or more");
  refused({"--method", "lanczos-two-pass", "--count", "2"},
          "--count: found with --method lanczos-two-pass; expected one value");
  refused({"--method", "lanczos", "--max-iterations", "9"},
          "--max-iterations: found with --method lanczos; expected --method lobpcg or "
          "lanczos-two-pass");
  refused({"--which", "near:2", "--count", "200"}, "--count: found 200; expected 1 to 112");
}

TEST_CASE("eigen finds vibrations with a mass matrix by lobpcg and amg, with the same bits") {
  const ScratchFolder folder;
  std::set<std::string> fingerprints;
  for (const int ranks : {1, 3}) {
    const auto result = run_weft(ranks, {"eigen", "elasticity3d:8x4x4", "--mass", "consistent",
                                         "--preconditioner", "amg", "--count", "4", "--threads",
                                         "1", "--vectors", folder.path("x.npy"), "--json", "-"});
    CHECK(result.exit_code == 0);
    const json report = report_of(result);
    CHECK(report.value("method", "") == "lobpcg");
    const json pairs = report["eigenvalues"]["pairs"];
    REQUIRE(pairs.size() == 4);
    // The square bar bends equally in both directions.
    CHECK(pairs[1]["value"].get<double>() == Approx(pairs[0]["value"].get<double>()).epsilon(1e-7));
    fingerprints.insert(fingerprint(read_file(folder.path("x.npy"))) + pairs.dump());
  }
  CHECK(fingerprints.size() == 1);
  const auto other_size = run_weft(
      2, {"eigen", "elasticity3d:8x4x4", "--mass", "elasticity3d:4x4x4,mass", "--threads", "1"});
  CHECK(other_size.exit_code == 2);
  CHECK(other_size.errors.find("--mass: found a matrix of 300 rows; expected 600") !=
        std::string::npos);
  const auto without = run_weft(1, {"eigen", "poisson2d:20", "--mass", "consistent"});
  CHECK(without.exit_code == 2);
  const auto with_lanczos =
      run_weft(1, {"eigen", "poisson2d:20", "--method", "lanczos", "--preconditioner", "amg"});
  CHECK(with_lanczos.exit_code == 2);
  CHECK(with_lanczos.errors.find("--preconditioner: found with --method lanczos; expected --method "
                                 "lobpcg") != std::string::npos);
}

TEST_CASE("lobpcg takes amg by itself where the matrix is positive definite") {
  const auto preconditioner = [](std::vector<std::string> args) {
    args.insert(args.begin(), "eigen");
    args.insert(args.end(), {"--count", "2", "--threads", "1", "--json", "-"});
    const auto result = run_weft(2, args);
    CHECK(result.exit_code == 0);
    return report_of(result).value("preconditioner", "none");
  };
  const std::vector<std::string> bar{"elasticity3d:6x3x3", "--mass", "consistent"};
  CHECK(preconditioner(bar) == "amg");
  CHECK(preconditioner(
            {"elasticity3d:6x3x3", "--mass", "consistent", "--preconditioner", "none"}) == "none");
  CHECK(preconditioner({"poisson2d:20", "--method", "lobpcg", "--which", "largest"}) == "none");
  CHECK(preconditioner({"anderson3d:6", "--method", "lobpcg"}) == "none");
}

TEST_CASE("spmv reports every mode asked for and finds the same bits in all") {
  for (const int ranks : {1, 2, 3})
    check_spmv(ranks, "vector,overlap,overlap-test,task",
               {"overlap", "overlap-test", "task", "vector"});
  check_spmv(2, "task,vector", {"task", "vector"});
  check_spmv(2, "overlap", {"overlap"});
}

TEST_CASE("reports say what products took in CRS and SELL-8, and which of them is kept") {
  const std::string times = R"( \([0-9.e-]+ ms a product; (CRS|SELL-8) [0-9.e-]+\))";
  const std::vector<std::string> solve{
      "solve", "irregular:3000", "--method",    "cg",    "--max-iterations", "60",
      "--rhs", "random:1",       "--tolerance", "1e-30", "--threads",        "2"};
  const std::vector<std::string> spmv{"spmv", "irregular:3000", "--repetitions",
                                      "2",    "--threads",      "2"};
  for (const int ranks : {1, 3})
    for (std::vector<std::string> words : {solve, spmv}) {
      INFO(words.front() << " on " << ranks << " ranks");
      const std::string text = run_weft(ranks, words).output;
      CHECK(std::regex_search(text, std::regex("matrix as (CRS|SELL-8)" + times)));
      words.insert(words.end(), {"--json", "-"});
      CHECK(faults_of_storage(report_of(run_weft(ranks, words))["performance"]) == "");
      words.insert(words.end(), {"--format", "sell"});
      const json performance = report_of(run_weft(ranks, words))["performance"];
      CHECK(performance.value("matrix_format", "") == "SELL-8");
      CHECK_FALSE(performance.contains("product_seconds"));
    }
}

TEST_CASE("SELL-8 is not tried in a solve of few iterations") {
  const auto result = run_weft(2, {"solve", "irregular:3000", "--method", "cg", "--threads", "1",
                                   "--tolerance", "1e-4", "--json", "-"});
  const json report = report_of(result);
  CHECK(report.value("iterations", 100) < 30);
  CHECK(report["performance"].value("matrix_format", "") == "CRS");
  CHECK_FALSE(report["performance"].contains("product_seconds"));
}

TEST_CASE("a generated file is solved like the problem it came from") {
  check_generated("poisson3d:9x8x7", "poisson.mtx", 1);
  check_generated("irregular:3000,nnzr=9,bandwidth=200,seed=5", "irregular.mtx", 3);
}

TEST_CASE("a generated compressed file is solved like the problem it came from") {
  check_generated("anisotropic3d:8,1,2,0.5", "anisotropic.mtx.gz", 3);
  check_generated("irregular:3000,nnzr=9,bandwidth=200,seed=5", "irregular.mtx.gz", 1);
}

TEST_CASE("topology has an entry for every thread of every rank") {
  for (const int ranks : {1, 2, 4}) {
    INFO(ranks << " ranks");
    const auto result = run_weft(ranks, {"topology", "--threads", "2", "--json", "-"});
    CHECK(result.exit_code == 0);
    const json report = report_of(result);
    CHECK(report.value("command", "") == "topology");
    CHECK(report["audit"].size() == static_cast<std::size_t>(ranks));
    CHECK(planned_pus(report).size() == static_cast<std::size_t>(3 * ranks));
    for (const json& rank : report["placement"]["ranks"]) CHECK(rank["compute_pus"].size() == 2);
  }
}

TEST_CASE("two ranks of eight threads do not overlap on a machine with room for them") {
  const auto result = run_weft(
      2, {"topology", "--threads", "8", "--json", "-"},
      // The components too: where they are set, hwloc takes no other hint.
      {{"HWLOC_SYNTHETIC", "pack:2 numa:4 core:8 pu:2"}, {"HWLOC_COMPONENTS", "synthetic,-pci"}});
  CHECK(result.exit_code == 0);
  const json report = report_of(result);
  CHECK(report["machine"].value("cores", 0) == 64);
  const std::vector<int> pus = planned_pus(report);
  CHECK(pus.size() == 18);
  std::set<int> cores;  // two hardware threads each, neighbours
  for (const int pu : pus) cores.insert(pu / 2);
  CHECK(cores.size() == 18);
  for (const json& rank : report["placement"]["ranks"])
    CHECK_FALSE(rank.value("oversubscribed", true));
}
