// Tests of tools/lab: hosts and networks on this machine, and that nothing of them stays.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <ios>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/program_run.h"

namespace {

namespace fs = std::filesystem;
using weft::tests::ProgramResult;
using weft::tests::read_file;
using weft::tests::ScratchFolder;
using Clock = std::chrono::steady_clock;

/// Bazel starts a test in its runfiles.
std::string tools_folder() { return (fs::current_path() / "tools").string(); }

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Runs a command line of the shell to its end; late when `timeout` had to end it.
ProgramResult run_shell(const std::string& line) {
  constexpr int exit_code_late = 124;
  const ScratchFolder folder;
  const std::string output = folder.path("output");
  const std::string errors = folder.path("errors");
  const std::string script = folder.write("script", line + "\n");
  const std::string limited =
      "timeout --kill-after=5 60 /bin/bash " + script + " </dev/null >" + output + " 2>" + errors;
  ProgramResult result;
  result.exit_code = exit_code_of(std::system(limited.c_str()));
  result.is_late = result.exit_code >= exit_code_late;
  result.output = read_file(output);
  result.errors = read_file(errors);
  return result;
}

/// Has this process the rights that a lab needs?
bool can_make_hosts() {
  static const bool can = geteuid() == 0 && run_shell(
                                                "unshare --pid --net --uts --ipc --mount "
                                                "--fork mount -t sysfs sysfs /sys")
                                                    .exit_code == 0;
  if (!can) WARN("skipped: making hosts needs root and the right to make namespaces");
  return can;
}

/// Are Slurm and munge installed?
bool has_slurm() {
  static const bool has =
      run_shell("PATH=$PATH:/usr/sbin; command -v slurmctld slurmd munged srun").exit_code == 0;
  if (!has) WARN("skipped: slurm-wlm and munge are not installed; tools/setup installs them");
  return has;
}

/// A lab with a name that no other has; down at the end.
class Lab {
 public:
  Lab() : name_("test-" + std::to_string(getpid())) { setenv_programs(); }
  ~Lab() { run("down"); }
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  /// `arguments` begins with the command of tools/lab.
  ProgramResult run(const std::string& arguments) const { return run_shell(line(arguments)); }
  std::string line(const std::string& arguments) const {
    return tools_folder() + "/lab --name " + name_ + " " + arguments;
  }
  std::string folder() const { return "/run/weft_lab/" + name_; }
  pid_t process() const { return std::atoi(read_file(folder() + "/process").c_str()); }

 private:
  static void setenv_programs() { setenv("WEFT_LAB_PROGRAMS", tools_folder().c_str(), 1); }

  std::string name_;
};

/// Processes on this machine, in all namespaces, whose command line has `text`.
std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process == 0 || process == getpid()) continue;
    try {
      if (read_file(entry.path() / "cmdline").find(text) != std::string::npos)
        found.push_back(process);
    } catch (const std::ios_base::failure&) {
      // It ended while it was looked at.
    }
  }
  return found;
}

/// Returns whether `is_so` became true within a few seconds.
template <typename Predicate>
bool becomes_true(Predicate is_so) {
  for (const auto end = Clock::now() + std::chrono::seconds(30); Clock::now() < end;) {
    if (is_so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return is_so();
}

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

/// Starts a command line and leaves it running.
pid_t start(const std::string& line) {
  const pid_t process = fork();
  if (process < 0) throw std::runtime_error("fork");
  if (process > 0) return process;
  execl("/bin/bash", "bash", "-c", ("exec " + line + " >/dev/null 2>&1").c_str(), nullptr);
  _exit(127);
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

TEST_CASE("a run that is ended in whatever way leaves no process on any host") {
  if (!can_make_hosts()) return;
  const Lab lab;
  CHECK(lab.run("up --nodes 2").exit_code == 0);
  for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
    INFO("signal " << signal);
    const std::string marker = "100000" + std::to_string(signal);
    const pid_t run =
        start(lab.line("run --threads 1 -- solve poisson3d:100 --tolerance 1e-300 "
                       "--max-iterations " +
                       marker));
    const std::string rank = "poisson3d:100" + std::string(1, '\0') + "--tolerance";
    CHECK(becomes_true([&] {
      const auto found = processes_with(tools_folder() + "/weft" + '\0' + "solve" + '\0' + rank);
      return found.size() >= 2;
    }));
    kill(run, signal);
    CHECK(waitpid(run, nullptr, 0) == run);
    CHECK(becomes_true([&] { return processes_with(marker).empty(); }));
  }
  CHECK(lab.run("status").exit_code == 0);
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

TEST_CASE("a cut link and a stopped rank delay a run and change no bit; a killed rank ends it") {
  if (!can_make_hosts()) return;
  const Lab lab;
  const ScratchFolder folder;
  const auto up = lab.run("up --nodes 2");
  INFO(up.errors);
  REQUIRE(up.exit_code == 0);
  const std::string solve =
      "run --threads 1 -- solve poisson3d:40 --tolerance 1e-300 --max-iterations 1500 --solution ";
  CHECK(lab.run(solve + folder.path("expected.npy")).exit_code == 3);
  const std::string expected = read_file(folder.path("expected.npy"));
  CHECK_FALSE(expected.empty());
  for (const std::string fault : {"cut n1 2", "slow n1 50mbit 1", "stop n0 1"}) {
    INFO(fault);
    const auto run = run_shell(lab.line(solve + folder.path("x.npy")) + " & sleep 1; " +
                               lab.line("fault " + fault) + "; wait $!");
    INFO(run.errors);
    CHECK(run.exit_code == 3);
    CHECK(read_file(folder.path("x.npy")) == expected);
    fs::remove(folder.path("x.npy"));
  }
  const std::string endless =
      "run --threads 1 -- solve poisson3d:40 --tolerance 1e-300 --max-iterations 100000000";
  const auto killed =
      run_shell(lab.line(endless) + " & job=$!; until " + lab.line("fault kill n1 1") +
                " 2>/dev/null; do sleep 0.2; done; " + "wait $job");
  CHECK(killed.exit_code == 5);
  CHECK(killed.errors.find("rank 1 was lost") != std::string::npos);
  CHECK(killed.errors.find("on n1") != std::string::npos);
  const auto cut_off = run_shell(lab.line(endless + " --give-up-after 3") + " & job=$!; sleep 2; " +
                                 lab.line("fault cut n1") + "; wait $job");
  INFO(cut_off.errors);
  CHECK(cut_off.exit_code == 5);
  CHECK(cut_off.errors.find("weft: rank 1 on n1 (process ") != std::string::npos);
  CHECK(cut_off.errors.find("has given no sign of life for 3 s") != std::string::npos);
  for (const auto& [fault, why] : std::vector<std::pair<std::string, std::string>>{
           {"kill n0", "there is no rank of weft on n0"},
           {"cut n2", "there is no host 'n2'"},
           {"melt n0", "unknown kind 'melt'"},
           {"slow n0 fast", "found 'fast'"},
           {"lose n0 all", "found 'all'"}}) {
    const auto refused = lab.run("fault " + fault);
    INFO(fault << ": " << refused.errors);
    CHECK(refused.exit_code == 2);
    CHECK(refused.errors.find(why) != std::string::npos);
  }
}

TEST_CASE("a delay line loses as many frames as is asked for, and none when it is healed") {
  if (!can_make_hosts()) return;
  const Lab lab;
  const auto up = lab.run("up --nodes 2 --latency 100us");
  INFO(up.errors);
  REQUIRE(up.exit_code == 0);
  const ScratchFolder folder;
  const std::string receive = folder.write("receive",
                                           "import socket\n"
                                           "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                                           "s.bind(('', 4711))\n"
                                           "open('" +
                                               folder.path("ready") +
                                               "', 'w').close()\n"
                                               "count = 0\n"
                                               "while s.recv(16) != b'end':\n"
                                               "    count += 1\n"
                                               "print(count)\n");
  const std::string send = folder.write("send",
                                        "import socket, time\n"
                                        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                                        "for i in range(600):\n"
                                        "    s.sendto(b'x' if i < 400 else b'end', ('n1', 4711))\n"
                                        "    time.sleep(0.0005)\n");
  const auto received = [&] {
    fs::remove(folder.path("ready"));
    const auto run = run_shell(lab.line("exec n1 -- python3 " + receive) + " & until [[ -e " +
                               folder.path("ready") + " ]]; do sleep 0.01; done; " +
                               lab.line("exec n0 -- python3 " + send) + "; wait $!");
    INFO(run.errors);
    CHECK(run.exit_code == 0);
    return std::atoi(run.output.c_str());
  };
  CHECK(received() == 400);
  CHECK(lab.run("fault lose n1 50").exit_code == 0);
  const int left = received();
  CHECK(left > 130);
  CHECK(left < 270);
  CHECK(lab.run("fault heal n1").exit_code == 0);
  CHECK(received() == 400);
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
