#include "spmv/files/temporary_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

using weft::spmv::TemporaryFile;

namespace {

/// A process that has ended.
pid_t ended_process() {
  const pid_t process = fork();
  if (process == 0) _exit(0);
  waitpid(process, nullptr, 0);
  return process;
}

}  // namespace

TEST_CASE("a temporary file of a run that was killed is gone when the next one writes") {
  const char* const parent = std::getenv("TEST_TMPDIR");
  const std::filesystem::path folder =
      std::filesystem::path(parent ? parent : std::filesystem::temp_directory_path()) / "killed";
  std::filesystem::create_directory(folder);
  const std::string path = (folder / "x.npy").string();
  std::optional<TemporaryFile> file(path);
  const std::string own = std::to_string(getpid());
  const std::string prefix = file->path().substr(0, file->path().size() - own.size());
  CHECK(file->path() == prefix + own);

  // Of a killed run, of a running one (process 1), and a name of somebody else.
  const std::string left = prefix + std::to_string(ended_process());
  const std::string running = prefix + "1";
  const std::string other = prefix + own + "x";
  for (const std::string& name : {left, running, other}) std::ofstream(name) << "x";
  file.emplace(path);
  CHECK_FALSE(std::filesystem::exists(left));
  CHECK(std::filesystem::exists(running));
  CHECK(std::filesystem::exists(other));
  CHECK(std::filesystem::exists(file->path()));
  file->put_in_place();
  CHECK(std::filesystem::exists(path));
  std::filesystem::remove_all(folder);
}
