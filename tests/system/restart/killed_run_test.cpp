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

/// What is run to its end, and where its result is then: x in a file of its own, or, of sweeps, the
/// last checkpoint, which has x and the numbers of sweeps, in the order of the rows.
struct Run {
  std::vector<std::string> arguments;
  bool is_sweep = false;
  bool is_search = false;  // for eigenvalues

  int exit_code() const { return is_sweep ? 3 : 0; }
  std::string result_option() const { return is_search ? "--vectors" : "--solution"; }
};

const std::vector<Run> solves{
    {{"solve", "anisotropic3d:40,1,1,1e-3", "--method", "cg"}},
    {{"solve", "anisotropic3d:60,1,1,1e-3", "--operator", "stencil", "--method",
      "cg-one-reduction"}},
    {{"solve", "anisotropic3d:40,1,1,1e-3", "--method", "cg-pipelined", "--preconditioner",
      "jacobi"}},
    {{"solve", "anisotropic3d:40,1,1,1e-3", "--method", "gmres", "--restart", "20"}},
    {{"solve", "anisotropic3d:30,1,1,1e-2", "--method", "bicgstab", "--preconditioner",
      "schwarz:subdomains=12,overlap=1"}},
    {{"solve", "poisson3d:100", "--operator", "stencil", "--method", "multigrid"}},
    {{"solve", "anisotropic3d:40,1,1,1e-3", "--method", "minres", "--preconditioner", "amg"}},
};

const std::vector<Run> searches{
    {{"eigen", "poisson3d:40", "--count", "20", "--tolerance", "1e-12"}, false, true},
    {{"eigen", "poisson3d:30", "--count", "10", "--preconditioner", "jacobi", "--tolerance",
      "1e-10"},
     false,
     true},
};

const std::vector<Run> sweeps{
    {{"jacobi", "--grid", "60", "--max-iterations", "6000"}, true},
    {{"jacobi", "poisson3d:40", "--max-iterations", "4000"}, true},
    {{"schwarz", "--subdomains", "12", "--points", "32", "--local-solver", "tensor",
      "--max-iterations", "1600"},
     true},
};

/// The result of a run in `folder` that nobody has disturbed.
std::string undisturbed(const Run& run, const ScratchFolder& folder, const std::string& solution) {
  std::vector<std::string> arguments = joined(run.arguments, {"--threads", "1"});
  const std::string last = folder.path("last");
  arguments =
      joined(arguments,
             run.is_sweep ? std::vector<std::string>{"--tolerance", "1e-300", "--checkpoint", last}
                          : std::vector<std::string>{run.result_option(), solution});
  const auto result = run_weft(2, arguments);
  INFO(result.errors << result.output);
  CHECK(result.exit_code == run.exit_code());
  const std::string bytes = read_file(run.is_sweep ? last : solution);
  CHECK(!bytes.empty());
  std::filesystem::remove(last);
  return bytes;
}

void check_killed_runs(const std::vector<Run>& all) {
  const int runs = number_from("WEFT_RESTART_RUNS", 4);
  const auto seed = static_cast<unsigned>(number_from("WEFT_RESTART_SEED", 1));
  const std::vector<std::string> modes{"vector", "overlap", "task"};
  const ScratchFolder folder;
  std::map<std::size_t, std::string> expected;
  for (int run = 0; run < runs; ++run) {
    std::mt19937 random(seed + static_cast<unsigned>(run));
    const std::size_t which = static_cast<std::size_t>(run) % all.size();
    const Run& what = all[which];
    const std::string solution = folder.path("x.npy");
    if (!expected.contains(which)) expected[which] = undisturbed(what, folder, solution);
    std::vector<std::string> common = joined(what.arguments, {"--threads", "1"});
    common =
        joined(common, what.is_sweep ? std::vector<std::string>{"--tolerance", "1e-300"}
                                     : std::vector<std::string>{what.result_option(), solution});
    if (!what.is_sweep && !what.is_search) common = joined(common, {"--max-iterations", "1000000"});
    const std::string state = folder.path("state");
    std::filesystem::remove(state);
    int kills = 0;
    while (true) {
      const int ranks = 1 + static_cast<int>(random() % 4);
      const std::string& mode = modes[random() % modes.size()];
      std::vector<std::string> arguments =
          joined(common, {"--mode", mode, "--checkpoint", state, "--checkpoint-every", "0.1s"});
      const bool is_continued = std::filesystem::exists(state);
      if (is_continued) arguments = joined(arguments, {"--restart-from", state});
      INFO("run " << run << ", seed " << seed << ", case " << which << ", " << ranks << " ranks, "
                  << mode << " mode, after " << kills << " kills");
      RunningProgram program(ranks, arguments);
      if (kills < 3) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200 + random() % 1500));
        program.signal_rank(static_cast<int>(random() % static_cast<unsigned>(ranks)), SIGKILL);
      }
      const auto result = program.wait(patience);
      INFO(result.errors << result.output);
      CHECK_FALSE(result.is_late);
      if (result.exit_code == what.exit_code()) {
        CHECK((read_file(what.is_sweep ? state : solution) == expected[which]));  // not shown
        break;
      }
      REQUIRE(kills < 3);
      ++kills;
    }
    const std::vector<std::string> left = folder.names();
    for (const std::string& name : left)
      CHECK((name == "state" || name == "state.previous" || name == "x.npy"));
    std::filesystem::remove(state + ".previous");
  }
}

}  // namespace

TEST_CASE("a run that is killed at random ends on other ranks with the bits of one that was not") {
  check_killed_runs(solves);
}

TEST_CASE("searches for eigenvalues that are killed end on other ranks with the bits of one run") {
  check_killed_runs(searches);
}

TEST_CASE("sweeps that are killed at random end on other ranks with the bits of undisturbed ones") {
  check_killed_runs(sweeps);
}
