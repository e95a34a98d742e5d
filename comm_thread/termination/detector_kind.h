#pragma once

#include <string>
#include <string_view>

namespace weft::comm_thread {

/// How ranks that do not wait for each other find out that all are done.
enum class DetectorKind {
  flags,  // a tree of flags with retraction (FlagTree)
  residual,  // a continuous tree reduction of the contributions
  all_reduce,  // the same with MPI_Iallreduce
  snapshot,  // as `residual`, then the true value of one recorded global vector
};

/// `flags`, `residual`, `all-reduce` or `snapshot`. Throws InputError, which lists what is known.
DetectorKind detector_kind(std::string_view text);

/// The opposite of `detector_kind`.
std::string name(DetectorKind kind);

}  // namespace weft::comm_thread
