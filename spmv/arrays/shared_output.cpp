#include "spmv/arrays/shared_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"

namespace weft::spmv {
namespace {

std::string cannot_be_written(const std::string& path) {
  return path + ": cannot be written (" + std::strerror(errno) + "); expected a writable file";
}

}  // namespace

SharedOutput::SharedOutput(const comm_thread::Communicator& communicator, std::string path)
    : communicator_(communicator), path_(std::move(path)) {
  comm_thread::collective_attempt(communicator_, [&] {
    if (communicator_.is_root()) temporary_.emplace(path_);
  });
  std::string name = temporary_ ? temporary_->path() : "";
  communicator_.broadcast(name, 0);
  comm_thread::collective_attempt(communicator_, [&] {
    file_ = open(name.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) throw comm_thread::FileAccessError(cannot_be_written(path_));
  });
}

SharedOutput::~SharedOutput() {
  if (file_ >= 0) close(file_);
}

void SharedOutput::write(std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty() && fault_.empty()) {
    const ssize_t written = pwrite(file_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      fault_ = cannot_be_written(path_);
      return;
    }
    offset += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void SharedOutput::collective_finish() {
  if (close(std::exchange(file_, -1)) != 0 && fault_.empty()) fault_ = cannot_be_written(path_);
  comm_thread::collective_agree_on_error(communicator_, fault_);
  comm_thread::collective_attempt(communicator_, [&] {
    if (temporary_) temporary_->put_in_place();
  });
}

}  // namespace weft::spmv
