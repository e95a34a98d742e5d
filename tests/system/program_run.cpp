#include "tests/system/program_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <catch2/catch.hpp>

namespace weft::tests {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr std::chrono::milliseconds between_looks{5};

std::string environment_or(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value ? value : otherwise;
}

Environment environment_of_runs(const Environment& changes) {
  Environment all = changes;
  all.insert({{"OMP_WAIT_POLICY", "passive"},
              {"MPIR_CVAR_POLLS_BEFORE_YIELD", "1"},
              {"UCX_LOG_LEVEL", "error"}});
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

void redirect(int descriptor, const std::string& path, int flags) {
  const int file = open(path.c_str(), flags, 0600);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(126);
}

pid_t parent_of(pid_t process) {
  const std::string stat = read_file("/proc/" + std::to_string(process) + "/stat");
  std::istringstream words(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string state;
  pid_t parent = 0;
  words >> state >> parent;
  return parent;
}

bool is_descendant(pid_t process, pid_t ancestor) {
  while (process > 1) {
    process = parent_of(process);
    if (process == ancestor) return true;
  }
  return false;
}

/// All processes that `ancestor` and its children started.
std::vector<pid_t> descendants_of(pid_t ancestor) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process > 1 && is_descendant(process, ancestor)) found.push_back(process);
  }
  return found;
}

/// Time that has passed, as on a machine that does nothing else: where more tasks run than there
/// are cores, a second counts less, and where this process or the machine stood still for longer
/// than between two looks, that counts as one second.
class QuietTime {
 public:
  void restart() {
    passed_ = Clock::duration{0};
    last_ = Clock::now();
  }
  Clock::duration passed() {
    const auto now = Clock::now();
    const Clock::duration since =
        std::min<Clock::duration>(now - std::exchange(last_, now), std::chrono::seconds(1));
    passed_ += std::chrono::duration_cast<Clock::duration>(since * share_of_cores());
    return passed_;
  }

 private:
  static double share_of_cores() {
    std::ifstream load("/proc/loadavg");
    double average = 0;
    double running = 0;
    for (int i = 0; i < 3; ++i) load >> average;
    load >> running;
    return std::min(1.0, std::thread::hardware_concurrency() / std::max(running, 1.0));
  }

  Clock::duration passed_{0};
  Clock::time_point last_ = Clock::now();
};

std::uintmax_t size_or_0(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

/// The launcher gives every rank its number.
bool has_rank(pid_t process, int rank) {
  const std::string folder = "/proc/" + std::to_string(process);
  if (read_file(folder + "/comm") != "weft\n") return false;
  const std::string variable = "PMI_RANK=" + std::to_string(rank) + '\0';
  const std::string environment = '\0' + read_file(folder + "/environ");
  return environment.find('\0' + variable) != std::string::npos;
}

}  // namespace

// Bazel starts a test in its runfiles.
std::string program_path() { return (fs::current_path() / "tools" / "weft").string(); }

bool signal_rank_below(pid_t ancestor, int rank, int signal) {
  for (const pid_t process : descendants_of(ancestor))
    if (has_rank(process, rank)) return kill(process, signal) == 0;
  return false;
}

bool run_foreign_files(const std::string& what, const ScratchFolder& folder) {
  constexpr int exit_code_skipped = 77;
  const int status =
      std::system(("tests/support/foreign_files " + what + " " + folder.path(".")).c_str());
  if (WEXITSTATUS(status) == exit_code_skipped) {
    WARN("skipped: SciPy, h5py or VTK is missing; tools/setup installs the first two");
    return false;
  }
  CHECK(status == 0);
  return true;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  try {
    return {std::istreambuf_iterator<char>(file), {}};
  } catch (const std::ios_base::failure&) {
    return {};  // of a process that has just ended
  }
}

ScratchFolder::ScratchFolder() {
  std::string name =
      environment_or("TEST_TMPDIR", fs::temp_directory_path().string()) + "/weft-XXXXXX";
  if (!mkdtemp(name.data())) throw std::runtime_error("no scratch folder");
  folder_ = fs::canonical(name);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string ScratchFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

std::vector<std::string> ScratchFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

RunningProgram::RunningProgram(int ranks, const std::vector<std::string>& arguments,
                               const Environment& environment) {
  std::vector<std::string> words{"mpiexec.mpich", "-n", std::to_string(ranks), program_path()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto argument_pointers = pointers(words);
  const Environment variables = environment_of_runs(environment);
  const std::string output = folder_.path("output");
  const std::string errors = folder_.path("errors");
  launcher_ = fork();
  if (launcher_ < 0) throw std::runtime_error("mpiexec cannot be started");
  if (launcher_ > 0) return;
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC);
  redirect(STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC);
  execvp(argument_pointers[0], argument_pointers.data());
  _exit(127);
}

RunningProgram::~RunningProgram() {
  if (!has_ended()) kill_all();
}

bool RunningProgram::has_ended() {
  if (launcher_ > 0 && waitpid(launcher_, &status_, WNOHANG) == launcher_) launcher_ = -1;
  return launcher_ < 0;
}

void RunningProgram::kill_all() {
  const auto processes = descendants_of(launcher_);
  kill(launcher_, SIGKILL);
  for (const pid_t process : processes) kill(process, SIGKILL);
  waitpid(launcher_, &status_, 0);
  launcher_ = -1;
}

bool RunningProgram::signal_rank(int rank, int signal) const {
  return launcher_ > 0 && signal_rank_below(launcher_, rank, signal);
}

bool RunningProgram::wait_for_errors_with(const std::string& text, std::chrono::seconds limit) {
  QuietTime waited;
  while (true) {
    const bool is_last_look = has_ended() || waited.passed() > limit;
    if (read_file(folder_.path("errors")).find(text) != std::string::npos) return true;
    if (is_last_look) return false;
    std::this_thread::sleep_for(between_looks);
  }
}

ProgramResult RunningProgram::wait(std::chrono::seconds limit) {
  ProgramResult result;
  QuietTime waited;
  for (std::uintmax_t printed = 0; !has_ended() && !result.is_late;) {
    std::this_thread::sleep_for(between_looks);
    const std::uintmax_t size =
        size_or_0(folder_.path("output")) + size_or_0(folder_.path("errors"));
    if (std::exchange(printed, size) != size) waited.restart();
    result.is_late = waited.passed() > limit;
  }
  if (!has_ended()) kill_all();
  result.exit_code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  result.output = read_file(folder_.path("output"));
  result.errors = read_file(folder_.path("errors"));
  return result;
}

ProgramResult run_weft(int ranks, const std::vector<std::string>& arguments,
                       const Environment& environment) {
  const std::chrono::seconds limit(std::atoi(environment_or("WEFT_TEST_SECONDS", "120").c_str()));
  return RunningProgram(ranks, arguments, environment).wait(limit);
}

}  // namespace weft::tests
