// Runs whose ranks are killed at random, and that continue on other ranks with the same bits.
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/program_run.h"

namespace {

using weft::tests::read_file;
using weft::tests::run_weft;
using weft::tests::RunningProgram;
using weft::tests::ScratchFolder;

constexpr std::chrono::seconds patience{60};

/// WEFT_RESTART_RUNS and WEFT_RESTART_SEED, or `otherwise`.
int number_from(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

const std::vector<std::vector<std::string>> solves{
    {"solve", "anisotropic3d:40,1,1,1e-3", "--method", "cg"},
    {"solve", "anisotropic3d:60,1,1,1e-3", "--operator", "stencil", "--method", "cg-one-reduction"},
    {"solve", "anisotropic3d:40,1,1,1e-3", "--method", "cg-pipelined", "--preconditioner",
     "jacobi"},
    {"solve", "anisotropic3d:40,1,1,1e-3", "--method", "gmres", "--restart", "20"},
    {"solve", "anisotropic3d:30,1,1,1e-2", "--method", "bicgstab", "--preconditioner",
     "schwarz:subdomains=12,overlap=1"},
    {"solve", "poisson3d:100", "--operator", "stencil", "--method", "multigrid"},
    {"solve", "anisotropic3d:40,1,1,1e-3", "--method", "minres", "--preconditioner", "amg"},
};

}  // namespace

TEST_CASE("a run that is killed at random ends on other ranks with the bits of one that was not") {
  const int runs = number_from("WEFT_RESTART_RUNS", 4);
  const auto seed = static_cast<unsigned>(number_from("WEFT_RESTART_SEED", 1));
  const std::vector<std::string> modes{"vector", "overlap", "task"};
  const ScratchFolder folder;
  std::map<std::size_t, std::string> expected;
  for (int run = 0; run < runs; ++run) {
    std::mt19937 random(seed + static_cast<unsigned>(run));
    const std::size_t which = static_cast<std::size_t>(run) % solves.size();
    const std::vector<std::string> common =
        joined(solves[which], {"--threads", "1", "--max-iterations", "1000000"});
    const std::string solution = folder.path("x.npy");
    if (!expected.contains(which)) {
      CHECK(run_weft(2, joined(common, {"--solution", solution})).exit_code == 0);
      expected[which] = read_file(solution);
      CHECK(!expected[which].empty());
    }
    const std::string state = folder.path("state");
    std::filesystem::remove(state);
    int kills = 0;
    while (true) {
      const int ranks = 1 + static_cast<int>(random() % 4);
      const std::string& mode = modes[random() % modes.size()];
      std::vector<std::string> arguments =
          joined(common, {"--mode", mode, "--checkpoint", state, "--checkpoint-every", "0.1s",
                          "--solution", solution});
      const bool is_continued = std::filesystem::exists(state);
      if (is_continued) arguments = joined(arguments, {"--restart", state});
      INFO("run " << run << ", seed " << seed << ", solve " << which << ", " << ranks << " ranks, "
                  << mode << " mode, after " << kills << " kills");
      RunningProgram program(ranks, arguments);
      if (kills < 3) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200 + random() % 1500));
        program.signal_rank(static_cast<int>(random() % static_cast<unsigned>(ranks)), SIGKILL);
      }
      const auto result = program.wait(patience);
      INFO(result.errors << result.output);
      CHECK_FALSE(result.is_late);
      if (result.exit_code == 0) {
        CHECK(read_file(solution) == expected[which]);
        break;
      }
      REQUIRE(kills < 3);
      ++kills;
    }
    const std::string previous = state + ".previous";
    const std::vector<std::string> left = folder.names();
    for (const std::string& name : left)
      CHECK((name == "state" || name == "state.previous" || name == "x.npy"));
    std::filesystem::remove(previous);
  }
}
