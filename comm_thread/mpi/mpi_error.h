#pragma once

#include <mpi.h>

#include <stdexcept>

namespace weft::comm_thread {

/// Error reported by the MPI library; `what()` has the library's message and the failed operation.
class MpiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws MpiError if `code` is not MPI_SUCCESS.
/// `doing`: the operation, for the message ("start the halo exchange").
void check_mpi(int code, const char* doing);

}  // namespace weft::comm_thread
