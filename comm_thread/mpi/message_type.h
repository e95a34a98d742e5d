#pragma once

#include <mpi.h>

#include <cstddef>

namespace weft::comm_thread {

/// MPI count and data type of a message of any number of bytes, although MPI's counts are `int`.
///
/// Up to INT_MAX bytes: `bytes` times MPI_BYTE. Above: one element of a derived type made of whole
/// GiB and the rest; it matches a receive in bytes. A started or prepared operation keeps the type
/// alive.
class MessageType {
 public:
  /// Throws MpiError.
  explicit MessageType(std::size_t bytes);
  ~MessageType();
  MessageType(const MessageType&) = delete;
  MessageType& operator=(const MessageType&) = delete;

  int count() const { return count_; }
  MPI_Datatype handle() const { return handle_; }

 private:
  int count_;
  MPI_Datatype handle_ = MPI_BYTE;
};

/// Length of a message in bytes, also above INT_MAX. Throws MpiError.
std::size_t byte_count(const MPI_Status& status);

}  // namespace weft::comm_thread
