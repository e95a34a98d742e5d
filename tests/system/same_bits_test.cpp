// The solution file of one solve is the same to the last byte however it was computed.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::Environment;
using weft::tests::fingerprint;
using weft::tests::read_file;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

/// Solves and identifies the solution file.
std::string solution(const std::string& problem, int ranks, const std::vector<std::string>& options,
                     const Environment& environment = {}) {
  const ScratchFolder folder;
  std::vector<std::string> arguments{"solve", problem, "--solution", folder.path("x.mtx")};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const auto result = run_weft(ranks, arguments, environment);
  INFO(result.errors);
  const bool may_end_early = std::ranges::count(options, "--max-iterations") > 0;
  CHECK(result.exit_code == (may_end_early ? 3 : 0));
  CHECK(folder.names() == std::vector<std::string>{"x.mtx"});
  return fingerprint(read_file(folder.path("x.mtx")));
}

/// On 1 to 4 ranks, in two modes each so that every mode meets odd and even numbers of ranks, with
/// one thread and two in turn: `odd_threads` with an odd number of ranks in the first mode.
void check_all_runs(const std::string& problem, const std::string& right_hand_side, int odd_threads,
                    const std::vector<const char*>& modes = {"vector", "overlap", "overlap-test",
                                                             "task"}) {
  const std::string expected =
      solution(problem, 1, {"--rhs", right_hand_side, "--threads", "1", "--mode", "vector"});
  for (const std::size_t ranks : {1U, 2U, 3U, 4U}) {
    int threads = ranks % 2 == 1 ? odd_threads : 3 - odd_threads;
    for (const std::size_t turn : {0U, 1U}) {
      const std::string mode = modes[(ranks / 2 + turn * (modes.size() / 2)) % modes.size()];
      INFO(ranks << " ranks, " << threads << " threads, mode " << mode);
      CHECK(solution(problem, static_cast<int>(ranks),
                     {"--rhs", right_hand_side, "--threads", std::to_string(threads), "--mode",
                      mode}) == expected);
      threads = 3 - threads;
    }
  }
}

/// Variants that do not change the bits either, on two and three ranks.
void check_variants(const std::string& problem, const std::string& right_hand_side) {
  const std::vector<std::string> plain{"--rhs", right_hand_side, "--threads", "1"};
  const std::string expected = solution(problem, 1, plain);
  const auto check = [&](std::vector<std::string> options, const Environment& environment = {}) {
    std::string shown;
    for (const std::string& option : options) shown += option + " ";
    options.insert(options.end(), plain.begin(), plain.end());
    for (const int ranks : {2, 3}) {
      INFO(shown << "on " << ranks << " ranks");
      CHECK(solution(problem, ranks, options, environment) == expected);
    }
  };
  check({"--format", "crs"});
  check({"--format", "auto"});
  check({"--partition", "nonzeros"});
  for (const char* const mode : {"vector", "overlap", "overlap-test", "task"})
    check({"--mode", mode}, {{"WEFT_THREAD_LEVEL", "serialized"}});
}

}  // namespace

TEST_CASE("the solution of a grid problem has the same bits in every run") {
  check_all_runs("poisson3d:18x17x16", "boundary-one", 1);
}

TEST_CASE("a solution without a matrix is written in the order of the rows, on any ranks") {
  const std::string problem = "poisson3d:19x18x17";
  // All that an iteration from b = 1 adds up are whole numbers: with a matrix the bits are the
  // same.
  const std::vector<std::string> start{"--rhs", "ones", "--threads", "1", "--max-iterations", "1"};
  const std::string first = solution(problem, 1, start);
  const std::string expected = solution(problem, 1, {"--operator", "stencil", "--threads", "1"});
  CHECK(first != expected);
  for (const int ranks : {1, 2, 3, 4}) {
    INFO(ranks << " ranks");
    CHECK(solution(problem, ranks, start) == first);
    std::vector<std::string> stencil = start;
    stencil.insert(stencil.end(), {"--operator", "stencil"});
    CHECK(solution(problem, ranks, stencil) == first);
    CHECK(solution(problem, ranks, {"--operator", "stencil", "--threads", "2"}) == expected);
  }
}

TEST_CASE("the solution of an irregular problem has the same bits in every run") {
  check_all_runs("irregular:20000", "random:1", 2);
}

TEST_CASE("the solution of a matrix from a file has the same bits in every run") {
  const ScratchFolder folder;
  const auto file = folder.path("matrix.mtx");
  CHECK(run_weft(1, {"generate", "irregular:9000,nnzr=7,bandwidth=600,seed=2", file}).exit_code ==
        0);
  check_all_runs(file, "x-random:4", 1, {"overlap", "task"});
}

TEST_CASE("the instruction set does not change the bits, and a word for none ends with one line") {
  // The words of sets that this processor has not are refused, like any other word.
  const std::vector<std::string> sets = {"sse2", "avx2", "avx512"};
  for (const std::vector<std::string>& problem :
       std::vector<std::vector<std::string>>{{"irregular:6000,nnzr=9,bandwidth=400", "random:3"},
                                             {"poisson3d:17x16x15", "random:4"}}) {
    const std::string expected = solution(problem[0], 2, {"--rhs", problem[1], "--threads", "1"});
    for (const std::string& set : sets) {
      const Environment environment{{"WEFT_INSTRUCTION_SET", set}};
      const auto tried = run_weft(1, {"topology"}, environment);
      if (tried.exit_code != 0) {
        CHECK(tried.exit_code == 2);
        CHECK(tried.errors.find("WEFT_INSTRUCTION_SET: found " + set) != std::string::npos);
        continue;
      }
      INFO(problem[0] << " with " << set);
      CHECK(solution(problem[0], 2, {"--rhs", problem[1], "--threads", "1"}, environment) ==
            expected);
    }
  }
  const auto refused = run_weft(2, {"topology"}, {{"WEFT_INSTRUCTION_SET", "avx3"}});
  CHECK(refused.exit_code == 2);
  CHECK(refused.errors.find("found 'avx3'; expected avx512, avx2 or sse2") != std::string::npos);
}

TEST_CASE("storage, partition and thread level do not change the bits of a grid problem") {
  check_variants("poisson2d:90x80", "random:2");
}

TEST_CASE("storage, partition and thread level do not change the bits of an irregular problem") {
  check_variants("irregular:12000,nnzr=9,bandwidth=900,seed=3", "random:2");
}

TEST_CASE(
    "eigenvalues and vectors have the same bits on any ranks and threads, in all modes and forms") {
  const ScratchFolder folder;
  const std::string vectors = folder.path("x.npy");
  const std::vector<std::vector<std::string>> searches{
      {"eigen", "poisson3d:14x13x12", "--count", "9"},
      {"eigen", "irregular:4000,nnzr=9,bandwidth=300", "--count", "3", "--which", "largest",
       "--block", "8"},
      {"eigen", "elasticity3d:6x4x4", "--mass", "consistent", "--preconditioner", "jacobi",
       "--count", "4", "--certificate", "none"}};
  const std::vector<std::string> modes{"vector", "overlap", "task"};
  const std::vector<std::string> formats{"crs", "sell", "auto"};
  for (const auto& search : searches) {
    std::string expected;
    for (const int ranks : {1, 2, 3, 5})
      for (const int threads : {1, 2})
        for (const std::size_t turn : {0U, 1U, 2U}) {
          if (turn > 0 && (ranks != 2 || threads != 2)) continue;
          const auto number = static_cast<std::size_t>(ranks + threads);
          const std::string& mode = modes[(number + turn) % 3];
          const std::string& format = formats[(number + 2 * turn) % 3];
          std::vector<std::string> arguments = search;
          arguments.insert(arguments.end(),
                           {"--threads", std::to_string(threads), "--mode", mode, "--format",
                            format, "--vectors", vectors, "--json", folder.path("report")});
          const auto result = run_weft(ranks, arguments);
          INFO(search[1] << ": " << ranks << " ranks, " << threads << " threads, " << mode << ", "
                         << format << "\n"
                         << result.errors << result.output);
          CHECK(result.exit_code == 0);
          const auto report = nlohmann::json::parse(read_file(folder.path("report")));
          const std::string found =
              fingerprint(read_file(vectors)) + report["eigenvalues"]["pairs"].dump();
          if (expected.empty()) expected = found;
          CHECK(found == expected);
        }
  }
}
