#include "comm_thread/placement/launcher_mask.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/comm_thread/placement/fake_system.h"

namespace weft::comm_thread {
namespace {

struct FakeProcess {
  std::string name;
  std::string pus;
};

/// The launcher of a process, PID 1000, that was started with the PUs 0 and 1. `above`: the
/// processes above it, the nearest first.
LauncherMask launcher_below(const std::vector<FakeProcess>& above) {
  const FakeSystem system;
  system.write("proc/self/status", "Name:\tweft\nPid:\t1000\nPPid:\t999\nCpus_allowed_list:\t0\n");
  int process = 999;
  for (const auto& [name, pus] : above) {
    system.write("proc/" + std::to_string(process) + "/status",
                 "Name:\t" + name + "\nUmask:\t0022\nPPid:\t" + std::to_string(process - 1) +
                     "\nCpus_allowed:\tff\nCpus_allowed_list:\t" + pus + "\n");
    --process;
  }
  return find_launcher_mask(std::vector<unsigned>{0, 1}, system.root());
}

const std::string launchers[] = {"hydra_pmi_proxy", "mpirun", "mpirun.openmpi", "mpiexec.gforker",
                                 "mpispawn",        "orted",  "prterun"};

TEST_CASE("a launcher that may use more is found right above, or above scripts with the same PUs") {
  for (const std::string& name : launchers) {
    CAPTURE(name);
    CHECK(launcher_below({{name, "0-7"}}).pus.size() == 8);
    CHECK(launcher_below({{name, "0-7"}}).name == name);
    CHECK(launcher_below({{"bash", "0-1"}, {"sh", "0-1"}, {name, "0-1,4"}}).pus ==
          std::vector<unsigned>{0, 1, 4});
  }
}

TEST_CASE("a launcher that has no more, or not all of it, gives nothing") {
  CHECK(launcher_below({{"orted", "0-1"}}).name.empty());
  CHECK(launcher_below({{"orted", "1-7"}}).name.empty());
  CHECK(launcher_below({{"orted", "4-7"}}).name.empty());
}

TEST_CASE("what was narrowed below the launcher is not its binding") {
  CHECK(launcher_below({{"bash", "0-7"}, {"hydra_pmi_proxy", "0-7"}}).name.empty());
}

TEST_CASE("shells and the processes of batch systems are no launchers") {
  for (const std::string name :
       {"bash", "slurmstepd", "pbs_mom", "mpirun.sh", "mpirunner", "srun"}) {
    CAPTURE(name);
    CHECK(launcher_below({{name, "0-7"}}).name.empty());
    CHECK(launcher_below({{name, "0-7"}, {"mpirun", "0-7"}}).name.empty());
  }
}

TEST_CASE("files of processes that cannot be read or make no sense find no launcher") {
  const FakeSystem nothing;
  CHECK(find_launcher_mask(std::vector<unsigned>{0}, nothing.root()).name.empty());
  for (const std::string pus : {"", "x", "7-0", "0-99999999", "-", ","}) {
    CAPTURE(pus);
    CHECK(launcher_below({{"mpirun", pus}}).name.empty());
  }
  const FakeSystem loop;
  loop.write("proc/self/status", "PPid:\t7\n");
  loop.write("proc/7/status", "Name:\tbash\nPPid:\t7\nCpus_allowed_list:\t0\n");
  CHECK(find_launcher_mask(std::vector<unsigned>{0}, loop.root()).name.empty());
}

}  // namespace
}  // namespace weft::comm_thread
