#pragma once

#include <mpi.h>

#include <stdexcept>

namespace weft::comm_thread {

/// A failure reported by the MPI library, with its own words and what weft was doing.
class MpiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws MpiError when `code` is not MPI_SUCCESS.
/// `doing`: what was attempted, for the message ("start the halo exchange").
void check_mpi(int code, const char* doing);

}  // namespace weft::comm_thread
