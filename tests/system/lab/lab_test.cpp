// Tests of tools/lab: hosts and networks on this machine, and that nothing of them stays.
#include "tests/system/lab/lab.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/program_run.h"

using weft::tests::becomes_true;
using weft::tests::can_make_hosts;
using weft::tests::has_slurm;
using weft::tests::Lab;
using weft::tests::processes_with;
using weft::tests::read_file;
using weft::tests::run_shell;
using weft::tests::ScratchFolder;
using weft::tests::start;
using weft::tests::tools_folder;

namespace fs = std::filesystem;

namespace {

std::string interfaces() { return run_shell("ls /sys/class/net").output; }
std::string mounts() { return read_file("/proc/self/mounts"); }

/// The number in front of `unit` in what `up` shows as measured.
double measured(const std::string& shown, const std::string& before) {
  const std::size_t line = shown.find("measured between n0 and n1: ");
  const std::size_t place = shown.find(before, line);
  REQUIRE(line != std::string::npos);
  REQUIRE(place != std::string::npos);
  return std::atof(shown.c_str() + place + before.size());
}

void check_refused(const Lab& lab, const std::string& arguments, const std::string& message) {
  INFO(arguments);
  const auto result = lab.run(arguments);
  INFO(result.errors);
  CHECK(result.exit_code == 2);
  CHECK(result.output.empty());
  CHECK(result.errors.find(message) != std::string::npos);
  CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
  CHECK_FALSE(fs::exists(lab.folder()));
}

}  // namespace

TEST_CASE("a lab that goes down leaves no process, interface, mount or file") {
  if (!can_make_hosts()) return;
  const Lab lab;
  const auto before = std::pair(interfaces(), mounts());
  const auto up = lab.run("up --nodes 2 --bandwidth 1gbit --latency 100us");
  INFO(up.errors);
  CHECK(up.exit_code == 0);
  CHECK(lab.run("status").output == up.output);
  CHECK_FALSE(processes_with(lab.folder()).empty());
  CHECK(lab.run("down").exit_code == 0);
  CHECK(processes_with(lab.folder()).empty());
  CHECK_FALSE(fs::exists(lab.folder()));
  CHECK(std::pair(interfaces(), mounts()) == before);
  CHECK(lab.run("status").exit_code == 1);
  CHECK(lab.run("down").exit_code == 0);
}

TEST_CASE("what is left of a lab that was killed does not hinder the next one") {
  if (!can_make_hosts()) return;
  const Lab lab;
  CHECK(lab.run("up --nodes 1").exit_code == 0);
  const pid_t process = lab.process();
  REQUIRE(process > 1);
  CHECK(kill(process, SIGKILL) == 0);
  CHECK(becomes_true([&] { return processes_with(lab.folder()).empty(); }));
  CHECK(lab.run("status").exit_code == 1);
  CHECK(lab.run("up --nodes 1").exit_code == 0);
  CHECK(lab.process() != process);
}

TEST_CASE("a lab ends as a whole when its delay line is killed") {
  if (!can_make_hosts()) return;
  const Lab lab;
  CHECK(lab.run("up --nodes 1 --latency 1ms").exit_code == 0);
  const std::string program = tools_folder() + "/cluster/delay";
  std::vector<pid_t> lines;
  for (const pid_t process : processes_with(program))
    if (read_file("/proc/" + std::to_string(process) + "/cmdline").find(program) == 0)
      lines.push_back(process);
  CHECK(lines.size() == 1);
  for (const pid_t line : lines) kill(line, SIGTERM);
  CHECK(becomes_true([&] { return processes_with(lab.folder()).empty(); }));
}

TEST_CASE("an interrupted up leaves nothing") {
  if (!can_make_hosts()) return;
  const Lab lab;
  const pid_t up = start(lab.line("up --nodes 2 --latency 100ms"));
  CHECK(becomes_true([&] { return fs::exists(lab.folder() + "/process"); }));
  kill(up, SIGTERM);
  CHECK(waitpid(up, nullptr, 0) == up);
  CHECK(becomes_true([&] { return processes_with(lab.folder()).empty(); }));
  CHECK_FALSE(fs::exists(lab.folder()));
}

TEST_CASE("a solve over two hosts gives the bits of a solve on one") {
  if (!can_make_hosts()) return;
  const Lab lab;
  const ScratchFolder folder;
  CHECK(lab.run("up --nodes 2 --bandwidth 1gbit").exit_code == 0);
  const std::string solve = "solve poisson3d:20x19x18 --mode task --solution ";
  const auto two = lab.run("run --threads 1 -- " + solve + folder.path("two.mtx"));
  INFO(two.errors);
  CHECK(two.exit_code == 0);
  CHECK(two.output.find("2 ranks") != std::string::npos);
  const auto one =
      run_shell("mpiexec.mpich -n 1 " + tools_folder() + "/weft " + solve + folder.path("one.mtx"));
  CHECK(one.exit_code == 0);
  CHECK_FALSE(read_file(folder.path("one.mtx")).empty());
  CHECK(read_file(folder.path("two.mtx")) == read_file(folder.path("one.mtx")));
}

TEST_CASE("a job of Slurm runs on the hosts of a lab, a rank on each, and ends with the lab") {
  if (!can_make_hosts() || !has_slurm()) return;
  const Lab lab;
  const ScratchFolder folder;
  const auto up = lab.run("up --nodes 2 --slurm");
  INFO(up.errors);
  REQUIRE(up.exit_code == 0);
  const std::string script = (fs::current_path() / "docs/examples/job.slurm").string();
  const auto job = run_shell("cd " + fs::path(folder.path(".")).string() + " && " +
                             lab.line("exec n0 -- sbatch --wait " + script + " poisson3d:12"));
  CHECK(job.exit_code == 0);
  CHECK(job.output == "Submitted batch job 1\n");
  CHECK(folder.names() == std::vector<std::string>{"weft-1.json", "weft-1.out"});
  const std::string output = read_file(folder.path("weft-1.out"));
  INFO(output);
  CHECK(output.find("  0  n0 ") != std::string::npos);
  CHECK(output.find("  1  n1 ") != std::string::npos);
  CHECK(output.find("poisson3d:12: 1728 rows") != std::string::npos);
  CHECK(output.find("2 ranks x ") != std::string::npos);
  CHECK(output.find("converged after ") != std::string::npos);
  CHECK(lab.run("exec n0 -- srun --mpi=pmi2 --nodes=1 weft solve poisson3d:5x").exit_code == 2);
  CHECK(lab.run("down").exit_code == 0);
  CHECK(processes_with(lab.folder()).empty());
  CHECK_FALSE(fs::exists(lab.folder()));
}

TEST_CASE("a host has a name, neighbours and a network of its own, and exit codes come through") {
  if (!can_make_hosts()) return;
  const Lab lab;
  CHECK(lab.run("up --nodes 3").exit_code == 0);
  const auto shown = lab.run(
      "exec n1 -- sh -c 'hostname; ls /sys/class/net; getent hosts n2; echo e >&2; exit 7'");
  CHECK(shown.exit_code == 7);
  CHECK(shown.errors == "e\n");
  CHECK(shown.output == "n1\neth0\nlo\n10.77.0.3       n2\n");
  CHECK(lab.run("run --threads 1 -- solve poisson3d:5x").exit_code == 2);
  const auto again = lab.run("up --nodes 2");
  CHECK(again.exit_code == 2);
  CHECK(again.errors.find("is up already") != std::string::npos);
  const auto nowhere = lab.run("exec n3 -- true");
  CHECK(nowhere.exit_code == 2);
  CHECK(nowhere.errors.find("there is no host 'n3'") != std::string::npos);
}

TEST_CASE("bandwidth and latency are at most, and at least, what was asked for") {
  if (!can_make_hosts()) return;
  const Lab lab;
  const auto slow = lab.run("up --nodes 2 --bandwidth 100mbit");
  INFO(slow.output << slow.errors);
  CHECK(slow.exit_code == 0);
  CHECK(measured(slow.output, "n1: ") < 200.0);
  CHECK(slow.output.find("threads hide ") != std::string::npos);
  if (slow.output.find("is not known") == std::string::npos)  // as on busy cores
    CHECK(measured(slow.output, "of a transfer of ") > 0.0);
  CHECK(lab.run("down").exit_code == 0);
  const auto far = lab.run("up --nodes 2 --latency 5ms");
  INFO(far.output << far.errors);
  CHECK(far.exit_code == 0);
  CHECK(measured(far.output, "latency ") >= 4900.0);
}

TEST_CASE("bad arguments to the lab are refused in one line") {
  const Lab lab;
  check_refused(lab, "", "expected a command");
  check_refused(lab, "frob", "unknown command 'frob'");
  check_refused(lab, "up", "--nodes: found ''; expected");
  check_refused(lab, "up --nodes 0", "--nodes: found '0'");
  check_refused(lab, "up --nodes 65", "--nodes: found '65'");
  check_refused(lab, "up --nodes 2 --frob", "'--frob'");
  check_refused(lab, "up --nodes 2 --bandwidth 1", "--bandwidth: found '1'; expected");
  check_refused(lab, "up --nodes 2 --bandwidth 1kbit", "--bandwidth: found '1kbit'; expected");
  check_refused(lab, "up --nodes 2 --latency fast", "--latency: found 'fast'; expected");
  check_refused(lab, "up --nodes 2 --latency 11s", "--latency: found '11s'; expected");
  check_refused(lab, "up --nodes 2 --name ../x", "--name: found '../x'");
  check_refused(lab, "run", "expected --");
  check_refused(lab, "run --ranks-per-node 0 -- topology", "--ranks-per-node: found '0'");
  check_refused(lab, "run --threads no -- topology", "--threads: found 'no'");
  check_refused(lab, "exec n0", "expected HOST -- COMMAND");
  check_refused(lab, "status n0", "unknown argument 'n0'");
  check_refused(lab, "down n0", "unknown argument 'n0'");
}

TEST_CASE("what needs a lab says so while there is none") {
  if (!can_make_hosts()) return;
  const Lab lab;
  check_refused(lab, "run -- topology", "is not up");
  check_refused(lab, "exec n0 -- true", "is not up");
}

TEST_CASE("without root a lab says that it is needed") {
  if (geteuid() != 0) return;
  const Lab lab;
  // The checkout may be readable by root only.
  const std::string copy = fs::temp_directory_path() / "weft_lab_without_root";
  fs::copy_file(tools_folder() + "/lab", copy, fs::copy_options::overwrite_existing);
  fs::permissions(copy, fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
  const auto result =
      run_shell("setpriv --reuid 65534 --clear-groups bash " + copy + " --name none up --nodes 2");
  fs::remove(copy);
  CHECK(result.exit_code == 2);
  CHECK(result.errors.find("root is needed") != std::string::npos);
  CHECK_FALSE(fs::exists(lab.folder()));
}
