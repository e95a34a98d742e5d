#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace weft::tests {

/// A file with a name, for readers that go by its ending. In memory where there is such a folder;
/// removed with the process.
class NamedFile {
 public:
  NamedFile() {
    const std::filesystem::path memory = "/dev/shm";
    const auto parent =
        std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
    std::string folder = (parent / "weft_fuzz_XXXXXX").string();
    if (!mkdtemp(folder.data())) std::abort();
    folder_ = folder;
  }
  ~NamedFile() { std::filesystem::remove_all(folder_); }
  NamedFile(const NamedFile&) = delete;
  NamedFile& operator=(const NamedFile&) = delete;

  /// The path of the file, which now holds `bytes`. `ending`: such as ".h5".
  std::string write(const std::string& ending, const std::string& bytes) const {
    const std::filesystem::path path = folder_ / ("input" + ending);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    return path.string();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace weft::tests
