#pragma once

#include <string>

namespace weft::spmv {

/// A new file beside the one it is to become; removed unless it is put in place.
///
/// Throws comm_thread::InputError with the final path.
class TemporaryFile {
 public:
  /// Creates PATH.tmp-HOST-PID, empty, and removes such files of runs on this host that were
  /// killed. A symbolic link is followed; a device or a folder is refused.
  explicit TemporaryFile(const std::string& path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return temporary_; }

  /// Replaces the final file.
  void put_in_place();

 private:
  std::string final_;
  std::string temporary_;  // empty once in place
};

}  // namespace weft::spmv
