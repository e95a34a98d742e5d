#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

namespace weft::comm_thread {

/// A folder that stands for "/", with what a test writes into it; removed in the end.
class FakeSystem {
 public:
  FakeSystem() {
    static std::atomic<int> count{0};
    root_ = std::filesystem::temp_directory_path() /
            ("weft-fake-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(root_);
  }
  ~FakeSystem() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;

  const std::filesystem::path& root() const { return root_; }
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

 private:
  std::filesystem::path root_;
};

}  // namespace weft::comm_thread
