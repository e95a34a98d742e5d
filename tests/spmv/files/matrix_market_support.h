#pragma once

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"

namespace weft::tests {

inline std::filesystem::path make_folder() {
  const char* parent = std::getenv("TEST_TMPDIR");
  std::string name = std::string(parent ? parent : "/tmp") + "/matrix_market_XXXXXX";
  return mkdtemp(name.data()) ? name : "";
}

// A folder for one test on one rank.
class ScratchFolder {
 public:
  ScratchFolder() : path_(make_folder()) {}
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline void write_compressed_file(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder that all ranks see and rank 0 fills.
class SharedFolder {
 public:
  explicit SharedFolder(const comm_thread::Communicator& communicator)
      : communicator_(communicator) {
    std::string name = communicator.is_root() ? make_folder().string() : "";
    communicator.broadcast(name, 0);
    path_ = name;
  }
  ~SharedFolder() {
    communicator_.barrier();
    if (communicator_.is_root()) std::filesystem::remove_all(path_);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::ptrdiff_t file_count() const {
    return std::distance(std::filesystem::directory_iterator(path_), {});
  }

  // Writes a file, compressed if its name says so. Collective.
  std::string put(const std::string& name, const std::string& text) const {
    if (communicator_.is_root())
      (name.ends_with(".gz") ? write_compressed_file : write_file)(*this / name, text);
    communicator_.barrier();
    return *this / name;
  }

 private:
  const comm_thread::Communicator& communicator_;
  std::filesystem::path path_;
};

// Message of the error that `work` throws, without the folder of the file; "" without an error.
template <class Work>
std::string input_error_of(Work&& work) {
  try {
    work();
  } catch (const comm_thread::InputError& error) {
    const std::string text = error.what();
    const std::size_t path_end = std::min(text.find(": "), text.size());
    const std::size_t folder_end = text.rfind('/', path_end);
    return folder_end == std::string::npos ? text : text.substr(folder_end + 1);
  }
  return "";
}

}  // namespace weft::tests
