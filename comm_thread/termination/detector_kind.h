#pragma once

#include <string>
#include <string_view>

namespace weft::comm_thread {

/// Kind of termination detector for asynchronous ranks.
enum class DetectorKind {
  flags,  // a tree of flags with retraction (FlagTree)
  residual,  // a continuous tree reduction of the contributions
  all_reduce,  // the same with MPI_Iallreduce
  snapshot,  // as `residual`, then the true value of one recorded global vector
};

/// Parses `flags`, `residual`, `all-reduce` or `snapshot`. Throws InputError with the list of valid
/// names.
DetectorKind detector_kind(std::string_view text);

/// Inverse of `detector_kind`.
std::string name(DetectorKind kind);

}  // namespace weft::comm_thread
