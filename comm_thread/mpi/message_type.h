#pragma once

#include <mpi.h>

#include <cstddef>

namespace weft::comm_thread {

/// How to tell MPI of a message of any number of bytes where its counts are `int`.
///
/// Up to INT_MAX bytes: as many MPI_BYTE. Above: one element of a derived type of whole GiB and the
/// rest, which matches a receive in bytes all the same. An operation started or prepared with the
/// type keeps it alive.
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

/// The length of a message in bytes, also above INT_MAX. Throws MpiError.
std::size_t byte_count(const MPI_Status& status);

}  // namespace weft::comm_thread
