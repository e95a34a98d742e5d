#include "spmv/files/temporary_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "comm_thread/mpi/input_error.h"

namespace weft::spmv {
namespace {

using comm_thread::InputError;

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw InputError(path + ": cannot be written (" + reason + "); expected a writable file");
}

/// File that `path` finally refers to: links are kept and their target is replaced.
std::string target_of(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail(path, std::strerror(errno));
    if (lstat(path.c_str(), &status) == 0) fail(path, "a link that leads nowhere");
    return path;
  }
  if (S_ISDIR(status.st_mode)) fail(path, "is a folder");
  if (!S_ISREG(status.st_mode)) fail(path, "is a pipe or a device");
  if (access(path.c_str(), W_OK) != 0) fail(path, std::strerror(errno));
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  if (error) fail(path, error.message());
  return target.string();
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

bool is_running(pid_t process) { return kill(process, 0) == 0 || errno != ESRCH; }

/// Removes the temporary files that killed runs on this host have left: `prefix` and the number of
/// a process that is gone.
void remove_left_behind(const std::string& prefix) {
  const std::filesystem::path whole(prefix);
  const auto folder = whole.parent_path();
  const std::string begin = whole.filename().string();
  std::error_code error;
  std::vector<std::filesystem::path> left;
  for (std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin)) continue;
    pid_t process = 0;
    const char* const last = name.data() + name.size();
    const auto [stop, fault] = std::from_chars(name.data() + begin.size(), last, process);
    if (fault == std::errc() && stop == last && process > 0 && !is_running(process))
      left.push_back(entry->path());
  }
  for (const auto& path : left) unlink(path.c_str());
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& path) {
  if (path.empty() || path.ends_with('/')) fail(path, "not the name of a file");
  final_ = target_of(path);
  const std::string prefix = final_ + ".tmp-" + host_name() + "-";
  remove_left_behind(prefix);
  temporary_ = prefix + std::to_string(getpid());
  unlink(temporary_.c_str());  // of a run that was killed
  const int file = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) {
    temporary_.clear();
    fail(path, std::strerror(errno));
  }
  close(file);
}

TemporaryFile::~TemporaryFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void TemporaryFile::put_in_place() {
  if (std::rename(temporary_.c_str(), final_.c_str()) != 0) fail(final_, std::strerror(errno));
  temporary_.clear();
}

}  // namespace weft::spmv
