#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "spmv/files/temporary_file.h"

namespace weft::spmv {

/// One new file to which every rank writes its parts. It replaces `path` when it is complete;
/// before, or where something fails, nothing of it is seen.
///
/// Throws comm_thread::InputError where it cannot be written.
class SharedOutput {
 public:
  /// Collective.
  SharedOutput(const comm_thread::Communicator& communicator, std::string path);
  ~SharedOutput();
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;

  /// Of the file while it is written; on rank 0 only.
  const std::string& temporary_path() const { return temporary_->path(); }

  /// Writes at `offset`; a fault is thrown by `collective_finish`. Not collective.
  void write(std::int64_t offset, std::span<const std::byte> bytes);

  /// Collective. Throws on every rank.
  void collective_finish();

 private:
  const comm_thread::Communicator& communicator_;
  std::string path_;
  std::optional<TemporaryFile> temporary_;  // of rank 0
  int file_ = -1;
  std::string fault_;
};

}  // namespace weft::spmv
