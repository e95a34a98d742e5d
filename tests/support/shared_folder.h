#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "comm_thread/mpi/communicator.h"

namespace weft::tests {

/// A folder that all ranks see, and that is gone afterwards. Collective.
class SharedFolder {
 public:
  explicit SharedFolder(const comm_thread::Communicator& world) : world_(world) {
    std::string name;
    if (world.is_root()) {
      const char* const parent = std::getenv("TEST_TMPDIR");
      name =
          std::string(parent ? parent : "/tmp") + "/weft-checkpoints-" + std::to_string(getpid());
      std::filesystem::create_directories(name);
    }
    world.broadcast(name, 0);
    path_ = name;
  }
  ~SharedFolder() {
    world_.barrier();
    std::error_code error;
    if (world_.is_root()) std::filesystem::remove_all(path_, error);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  std::string file(const std::string& name) const { return path_ / name; }

 private:
  const comm_thread::Communicator& world_;
  std::filesystem::path path_;
};

}  // namespace weft::tests
