#include "tests/system/lab/lab.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <ios>
#include <stdexcept>

#include <catch2/catch.hpp>

namespace weft::tests {
namespace {

namespace fs = std::filesystem;

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string tools_folder() { return (fs::current_path() / "tools").string(); }

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

bool can_make_hosts() {
  static const bool can = geteuid() == 0 && run_shell(
                                                "unshare --pid --net --uts --ipc --mount "
                                                "--fork mount -t sysfs sysfs /sys")
                                                    .exit_code == 0;
  if (!can) WARN("skipped: making hosts needs root and the right to make namespaces");
  return can;
}

bool has_slurm() {
  static const bool has =
      run_shell("PATH=$PATH:/usr/sbin; command -v slurmctld slurmd munged srun").exit_code == 0;
  if (!has) WARN("skipped: slurm-wlm and munge are not installed; tools/setup installs them");
  return has;
}

pid_t start(const std::string& line) {
  const pid_t process = fork();
  if (process < 0) throw std::runtime_error("fork");
  if (process > 0) return process;
  execl("/bin/bash", "bash", "-c", ("exec " + line + " >/dev/null 2>&1").c_str(), nullptr);
  _exit(127);
}

Lab::Lab() : name_("test-" + std::to_string(getpid())) {
  setenv("WEFT_LAB_PROGRAMS", tools_folder().c_str(), 1);
}

pid_t Lab::process() const { return std::atoi(read_file(folder() + "/process").c_str()); }

std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process == 0 || process == getpid()) continue;
    try {
      if (read_file(entry.path() / "cmdline").find(text) != std::string::npos)
        found.push_back(process);
    } catch (const std::ios_base::failure&) {
      continue;  // it ended while it was looked at
    }
  }
  return found;
}

}  // namespace weft::tests
