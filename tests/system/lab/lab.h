#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/system/program_run.h"

namespace weft::tests {

/// Bazel starts a test in its runfiles.
std::string tools_folder();

/// Runs a command line of the shell to its end; late when a minute had to end it.
ProgramResult run_shell(const std::string& line);

/// Starts a command line and leaves it running.
pid_t start(const std::string& line);

/// True if this process has the rights that a lab needs; warns where it has not.
bool can_make_hosts();

/// True if Slurm and munge are installed; warns where they are not.
bool has_slurm();

/// A lab with a name that no other has; down at the end.
class Lab {
 public:
  Lab();
  ~Lab() { run("down"); }
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  /// `arguments` begins with the command of tools/lab.
  ProgramResult run(const std::string& arguments) const { return run_shell(line(arguments)); }
  std::string line(const std::string& arguments) const {
    return tools_folder() + "/lab --name " + name_ + " " + arguments;
  }
  std::string folder() const { return "/run/weft_lab/" + name_; }
  pid_t process() const;

 private:
  std::string name_;
};

/// Processes on this machine, in all namespaces, whose command line has `text`.
std::vector<pid_t> processes_with(const std::string& text);

/// Returns whether `is_so` became true within a few seconds.
template <typename Predicate>
bool becomes_true(Predicate is_so) {
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
       std::chrono::steady_clock::now() < end;) {
    if (is_so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return is_so();
}

}  // namespace weft::tests
