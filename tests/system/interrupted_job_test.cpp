// Jobs under tools/launch and tools/run that a signal ends.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/system/program_run.h"

namespace {

namespace fs = std::filesystem;
using weft::tests::ProgramResult;
using weft::tests::read_file;
using weft::tests::ScratchFolder;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience{60};
const std::string endless =
    "solve poisson3d:64 --threads 1 --tolerance 1e-300 --max-iterations 100000000";

/// A command line of the shell that runs in the background; its process is the command's.
class ShellJob {
 public:
  explicit ShellJob(const std::string& line) {
    const std::string whole =
        "exec " + line + " </dev/null >" + folder_.path("output") + " 2>" + folder_.path("errors");
    process_ = fork();
    if (process_ < 0) throw std::runtime_error("fork");
    if (process_ > 0) return;
    for (const auto& [name, value] : {std::pair{"OMP_WAIT_POLICY", "passive"},
                                      {"MPIR_CVAR_POLLS_BEFORE_YIELD", "1"},
                                      {"UCX_LOG_LEVEL", "fatal"},
                                      {"UCX_HANDLE_ERRORS", "none"},
                                      {"WEFT_TERMINAL", "1"}})
      setenv(name, value, 1);
    execl("/bin/bash", "bash", "-c", whole.c_str(), nullptr);
    _exit(127);
  }
  ~ShellJob() {
    if (process_ > 0) kill(process_, SIGKILL);
  }
  ShellJob(const ShellJob&) = delete;
  ShellJob& operator=(const ShellJob&) = delete;

  pid_t process() const { return process_; }

  /// Whether `text` came on standard error.
  bool wait_for(const std::string& text) const {
    for (const auto end = Clock::now() + patience; Clock::now() < end; pause())
      if (read_file(folder_.path("errors")).find(text) != std::string::npos) return true;
    return false;
  }

  ProgramResult wait() {
    ProgramResult result;
    int status = 0;
    const auto end = Clock::now() + patience;
    while (waitpid(process_, &status, WNOHANG) == 0) {
      if (Clock::now() > end) {
        result.is_late = true;
        kill(process_, SIGKILL);
      }
      pause();
    }
    process_ = -1;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    result.output = read_file(folder_.path("output"));
    result.errors = read_file(folder_.path("errors"));
    return result;
  }

 private:
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

  ScratchFolder folder_;
  pid_t process_ = -1;
};

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  const std::size_t begin = text.find_last_of("\n\r", end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1);
}

void check_interrupted(const std::string& line, int signal, const std::string& name) {
  INFO(line << ", " << name);
  ShellJob job(line);
  CHECK(job.wait_for("iteration "));
  CHECK(kill(job.process(), signal) == 0);
  const ProgramResult result = job.wait();
  INFO(result.errors);
  CHECK_FALSE(result.is_late);
  CHECK(result.exit_code == 128 + signal);
  CHECK(result.output == "");
  CHECK_THAT(last_line(result.errors),
             Catch::Contains("weft: the job was ended by " + name + " from "));
  CHECK(std::ranges::count(result.errors, '\n') == 2);  // where it was, and who ended it
}

std::string launch(int ranks) {
  return "tools/launch mpiexec.mpich -n " + std::to_string(ranks) + " tools/weft ";
}

/// A checkout in which everything is built already.
class Checkout {
 public:
  Checkout() {
    fs::create_directories(folder_.path("tools"));
    fs::create_directories(folder_.path("bazel-bin/tools"));
    for (const char* const script : {"run", "launch", "pass_signals", "progress_runs"})
      fs::copy_file(std::string("tools/") + script, path(script));
    for (const char* const script : {"setup", "build_quietly", "plot"})
      fs::create_symlink("/bin/true", path(script));
    fs::create_symlink(fs::current_path() / "tools/weft", folder_.path("bazel-bin/tools/weft"));
  }

  std::string path(const std::string& script) const { return folder_.path("tools/" + script); }

 private:
  ScratchFolder folder_;
};

}  // namespace

TEST_CASE(
    "an interrupted job ends with 128 + the signal's number and a line that says who did it") {
  for (const auto& [signal, name] :
       {std::pair{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}})
    check_interrupted(launch(2) + endless, signal, name);
}

TEST_CASE("tools/run passes an interruption on, also where it has work left after the run") {
  const Checkout checkout;
  const std::string run = checkout.path("run") + " ";
  check_interrupted(run + endless + " --ranks 2", SIGTERM, "SIGTERM");
  const std::string sweeps =
      "jacobi poisson3d:40 --threads 1 --tolerance 1e-300 --max-iterations 100000000 --plot x.svg";
  for (const auto& [signal, name] : {std::pair{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}}) {
    ShellJob job(run + sweeps);
    CHECK(job.wait_for("["));
    CHECK(kill(job.process(), signal) == 0);
    const ProgramResult result = job.wait();
    INFO(result.errors);
    CHECK(result.exit_code == 128 + signal);
    CHECK_THAT(last_line(result.errors), Catch::Contains(std::string("ended by ") + name));
  }
}

TEST_CASE("a signal before the ranks have started ends the job as well") {
  ShellJob job(launch(2) + endless);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(kill(job.process(), SIGTERM) == 0);
  const ProgramResult result = job.wait();
  INFO(result.errors);
  CHECK_FALSE(result.is_late);
  // Before Python has taken over, the signal ends the process itself.
  CHECK((result.exit_code == 128 + SIGTERM || result.exit_code == -SIGTERM));
}

TEST_CASE("sweeps with checkpoints end after a signal with the code for it, and continue") {
  const ScratchFolder folder;
  const std::string state = folder.path("state");
  const std::string sweeps =
      launch(2) + "jacobi poisson2d:300 --threads 1 --tolerance 1e-6 --check-period 20 ";
  ShellJob job(sweeps + "--checkpoint " + state);
  CHECK(job.wait_for("iteration "));
  CHECK(kill(job.process(), SIGTERM) == 0);
  const ProgramResult result = job.wait();
  INFO(result.errors << result.output);
  CHECK(result.exit_code == 128 + SIGTERM);
  CHECK_THAT(result.output,
             Catch::Contains("stopped") && Catch::Contains("checkpoint   1 written"));
  const std::string restart =
      sweeps + "--max-iterations 10 --restart-from " + state + " >" + folder.path("out");
  CHECK(WEXITSTATUS(std::system((restart + " 2>/dev/null").c_str())) == 3);
  CHECK_THAT(read_file(folder.path("out")), Catch::Contains("restart      continued after "));
}

TEST_CASE("tools/run --retries starts again from the newest checkpoint where a rank was lost") {
  const Checkout checkout;
  const ScratchFolder folder;
  const std::string state = folder.path("state");
  ShellJob job(checkout.path("run") +
               " solve poisson3d:64 --threads 1 --tolerance 1e-300 --max-seconds 3 --checkpoint " +
               state + " --checkpoint-every 5it --ranks 2 --retries 2");
  const auto end = Clock::now() + patience;
  while (!fs::exists(state) && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(weft::tests::signal_rank_below(job.process(), 1, SIGKILL));
  const ProgramResult result = job.wait();
  INFO(result.errors << result.output);
  CHECK(result.exit_code == 6);
  // MPICH, which kills the others, may name any of those that have ended.
  CHECK_THAT(result.errors, Catch::Contains(" was lost (process ") &&
                                Catch::Contains("weft: try 1 of 2: starts again from " + state) &&
                                !Catch::Contains("try 2"));
  CHECK_THAT(result.output, Catch::Contains("restart      continued after "));
}

TEST_CASE("the job script for Slurm puts itself into the queue again until the solve is done") {
  const ScratchFolder folder;
  const auto write_program = [&](const std::string& name, const std::string& text) {
    fs::permissions(folder.write(name, "#!/bin/bash\n" + text), fs::perms::owner_all);
  };
  // Notes what it is given; a solve ends with the code in the file `code`, and writes its
  // checkpoint.
  write_program("srun",
                "echo \"srun $*\" >>calls\n[[ $* == *topology* ]] && exit 0\n"
                "touch weft-7.state weft-7.state.previous\nexit $(<code)\n");
  write_program("scontrol", "echo \"scontrol $*\" >>calls\n");
  const auto run = [&](const std::string& code) {
    folder.write("code", code);
    folder.write("calls", "");
    return WEXITSTATUS(
        std::system(("script=$PWD/docs/examples/job.slurm; cd " + folder.path(".") +
                     " && PATH=$PWD:$PATH SLURM_JOB_ID=7 SLURM_CPUS_ON_NODE=4 bash $script")
                        .c_str()));
  };
  const auto calls = [&] { return read_file(folder.path("calls")); };
  CHECK(run("143") == 0);
  CHECK_THAT(calls(), Catch::Contains("--checkpoint weft-7.state --checkpoint-every 5min\n") &&
                          Catch::EndsWith("scontrol requeue 7\n"));
  CHECK(run("143") == 0);
  CHECK_THAT(calls(), Catch::Contains("--restart-from weft-7.state\n") &&
                          Catch::EndsWith("scontrol requeue 7\n"));
  CHECK(run("3") == 3);  // not converged: nobody runs it again
  CHECK_THAT(calls(), !Catch::Contains("scontrol"));
  CHECK(run("0") == 0);
  CHECK_THAT(calls(), !Catch::Contains("scontrol"));
  CHECK_FALSE(fs::exists(folder.path("weft-7.state")));
  CHECK_FALSE(fs::exists(folder.path("weft-7.state.previous")));
}

TEST_CASE("a solve goes on where its checkpoints find a full or a read-only disk") {
  if (std::system("unshare --mount true 2>/dev/null") != 0) {
    WARN("skipped: mounting is not allowed here");
    return;
  }
  const ScratchFolder folder;
  // 8 MB: a state has 1.5 MB, and there are three of them while one is written.
  const std::string script = folder.write(
      "script",
      "disk=$1\nmkdir $disk\nmount -t tmpfs -o size=8m tmpfs $disk\n"
      "solve=(mpiexec.mpich -n 2 tools/weft solve poisson3d:40 --threads 1 --tolerance 1e-300 "
      "--max-iterations 1000000000)\n"
      "\"${solve[@]}\" --max-seconds 4 --checkpoint $disk/state --checkpoint-every 5it "
      "2>$disk.errors &\n"
      "until [[ -e $disk/state.previous ]]; do sleep 0.01; done\n"
      // All of the disk is in use only once there was no third state at some time.
      "until grep -q 'No space' $disk.errors; do head -c 9m /dev/zero >>$disk/fill; done "
      "2>/dev/null\nrm $disk/fill\n"
      "until mount -o remount,ro $disk 2>/dev/null; do sleep 0.001; done\n"
      "code=0\nwait $! || code=$?\necho first $code\nmount -o remount,rw $disk\n"
      "cat $disk.errors >&2\n"
      "code=0\n\"${solve[@]}\" --max-seconds 0.1 --restart-from $disk/state || code=$?\n"
      "echo second $code\nls $disk\n");
  ShellJob job("timeout 60 unshare --mount bash " + script + " " + folder.path("disk"));
  const ProgramResult result = job.wait();
  INFO(result.errors << result.output);
  CHECK_THAT(result.errors,
             Catch::Contains("cannot be written (No space left on device); the solve goes on") &&
                 Catch::Contains("cannot be written (Read-only file system); the solve goes on"));
  CHECK_THAT(result.output, Catch::Contains("first 6\n") && Catch::Contains("second 6\n") &&
                                Catch::Contains("restart      continued after ") &&
                                Catch::EndsWith("state\nstate.previous\n"));
}

TEST_CASE("a checkpoint or a solution longer than ulimit -f allows is an error of the write") {
  const ScratchFolder folder;
  // 8 MiB: x has a little more, and what UCX shares between ranks has less.
  const auto run = [&](const std::string& options) {
    return ShellJob(
               "bash -c 'ulimit -f 8192; exec mpiexec.mpich -n 2 tools/weft solve poisson3d:104 "
               "--operator stencil --method cg --threads 1 --max-iterations 5 " +
               options + "'")
        .wait();
  };
  const auto solved = run("--checkpoint " + folder.path("state") + " --checkpoint-every 2it");
  CHECK(solved.exit_code == 3);
  CHECK_THAT(solved.output, Catch::Contains("cannot be written (File too large)"));
  CHECK_THAT(solved.errors, Catch::Contains("cannot be written (File too large); "));
  const auto refused = run("--solution " + folder.path("x.npy"));
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.errors, Catch::Contains("x.npy") && Catch::Contains("File too large"));
  CHECK(fs::is_empty(folder.path(".")));
}

TEST_CASE("the exit code under the launcher is the one that the ranks agreed on") {
  const auto code = [](const std::string& arguments) {
    const ScratchFolder folder;
    const int status = std::system(
        (launch(2) + arguments + " >" + folder.path("out") + " 2>" + folder.path("errors"))
            .c_str());
    const std::string said = read_file(folder.path("out")) + read_file(folder.path("errors"));
    CHECK(said.find('\x1e') == std::string::npos);
    return WEXITSTATUS(status);
  };
  CHECK(code("solve poisson3d:5 --threads 1") == 0);
  CHECK(code("solve poisson3d:5 --threads 1 --max-iterations 1") == 3);
  CHECK(code("solve poisson3d:5x --threads 1") == 2);
  CHECK(code("--help") == 0);
}

TEST_CASE("ranks that end without having agreed on an exit code have not succeeded") {
  const ScratchFolder folder;
  const auto code = [&](const std::string& script) {
    const std::string line =
        "tools/launch bash -c '" + script + "' >/dev/null 2>" + folder.path("errors");
    return WEXITSTATUS(std::system(line.c_str()));
  };
  CHECK(code("exit 0") == 1);
  CHECK(read_file(folder.path("errors")) == "weft: the ranks ended without a result\n");
  CHECK(code("exit 7") == 7);
  CHECK(code("kill -KILL $$") == 128 + SIGKILL);
  CHECK(code("printf \"at 1\\x1erank 0 12 here\\nnext\\n\\x1eexit 0\\n\" >&2") == 0);
  CHECK(read_file(folder.path("errors")) == "at 1next\n");
}

TEST_CASE("what a rank that is killed leaves in memory is removed, and what others use is not") {
  const ScratchFolder folder;
  const std::string left = "/dev/shm/mpich_shar_tmp_left" + std::to_string(getpid());
  const std::string used = "/dev/shm/mpich_shar_tmp_used" + std::to_string(getpid());
  ShellJob other("bash -c 'exec 9>" + used + "; sleep 60'");
  while (!fs::exists(used)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::string line =
      "tools/launch bash -c 'touch " + left + "; kill -KILL $$' 2>" + folder.path("errors");
  CHECK(WEXITSTATUS(std::system(line.c_str())) == 128 + SIGKILL);
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(used));
  fs::remove(used);
}

TEST_CASE("a rank that stops for good ends the job in the time given, whatever the others do") {
  const std::string sweeps =
      "jacobi poisson3d:64 --threads 1 --variant async --tolerance 1e-300 "
      "--max-iterations 100000000";
  for (const std::string& command : {endless, sweeps}) {
    INFO(command);
    const ScratchFolder folder;
    ShellJob job(launch(2) + command + " --give-up-after 2 --checkpoint " + folder.path("state"));
    CHECK(job.wait_for("iteration "));
    CHECK(weft::tests::signal_rank_below(job.process(), 1, SIGSTOP));
    const ProgramResult result = job.wait();
    INFO(result.errors);
    CHECK_FALSE(result.is_late);
    CHECK(result.exit_code == 5);
    const std::regex line(
        "weft: rank 1 on [^ ]+ \\(process [0-9]+\\) has given no sign of life for 2 s; the job is "
        "ended\n");
    CHECK(std::regex_search(last_line(result.errors), line));
    CHECK(std::ranges::count(result.errors, '\n') == 2);  // where it was, and who is lost
  }
}

TEST_CASE("a launcher that is stopped itself loses no rank") {
  ShellJob job(launch(2) +
               "solve poisson3d:64 --threads 1 --tolerance 1e-300 --max-seconds 3 "
               "--max-iterations 100000000 --give-up-after 1.5");
  CHECK(job.wait_for("iteration "));
  CHECK(kill(job.process(), SIGSTOP) == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  CHECK(kill(job.process(), SIGCONT) == 0);
  const ProgramResult result = job.wait();
  INFO(result.errors);
  CHECK(result.exit_code == 6);
}

TEST_CASE("a killed rank is named, with an exit code of its own") {
  ShellJob job(launch(2) + endless);
  CHECK(job.wait_for("iteration "));
  CHECK(weft::tests::signal_rank_below(job.process(), 1, SIGKILL));
  const ProgramResult result = job.wait();
  INFO(result.errors);
  CHECK_FALSE(result.is_late);
  CHECK(result.exit_code == 5);
  // MPICH, which kills the others, may name any of those that have ended.
  CHECK_THAT(last_line(result.errors),
             Catch::Matches("weft: rank [01] was lost \\(process [0-9]+ on .*\n"));
}
