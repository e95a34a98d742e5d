#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace weft::tests {

/// A folder of its own for the files of one test case; removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Absolute path of the file `name` in this folder.
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Writes a file and returns its absolute path.
  std::string write(const std::string& name, const std::string& text) const;
  /// Names of the entries, sorted.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path folder_;
};

/// Result of a run of the program.
struct ProgramResult {
  int exit_code = -1;  // of mpiexec; 128 + N when signal N ended it
  bool is_late = false;  // did not end within the time limit and was killed
  std::string output;
  std::string errors;
};

using Environment = std::map<std::string, std::string>;

/// A run of `mpiexec.mpich -n RANKS weft ARGUMENTS`, in an environment for more ranks than cores.
/// The destructor kills processes that still run.
class RunningProgram {
 public:
  RunningProgram(int ranks, const std::vector<std::string>& arguments,
                 const Environment& environment = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  /// Sends `signal` to the process of `rank`; false when there is no such process.
  bool signal_rank(int rank, int signal) const;

  /// Returns whether `text` came on standard error before the program ended or `limit` had passed.
  /// Limits are those of a machine that does nothing else: beside other work they last longer.
  bool wait_for_errors_with(const std::string& text, std::chrono::seconds limit);

  /// Returns when the program has ended or was killed, because it had printed nothing for `limit`.
  ProgramResult wait(std::chrono::seconds limit);

 private:
  bool has_ended();
  void kill_all();

  ScratchFolder folder_;
  pid_t launcher_ = -1;
  int status_ = 0;
};

/// Absolute path of the program, for ranks with arguments of their own: ":", "-n", "1", path, ….
std::string program_path();

/// Sends `signal` to the process of `rank` among those that `ancestor` and its children started;
/// false when there is no such process.
bool signal_rank_below(pid_t ancestor, int rank, int signal);

/// Runs the program to its end. The limit is WEFT_TEST_SECONDS, 120 if not set.
ProgramResult run_weft(int ranks, const std::vector<std::string>& arguments,
                       const Environment& environment = {});

/// Runs tests/support/foreign_files WHAT on a folder. False, with a warning, where Python lacks a
/// package that it needs.
bool run_foreign_files(const std::string& what, const ScratchFolder& folder);

/// The whole file.
std::string read_file(const std::string& path);

}  // namespace weft::tests
