#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "comm_thread/engine/reduce_operation.h"
#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// The MPI library's own non-blocking all-reduce of a few numbers: one MPI_Iallreduce for each
/// operation that occurs.
///
/// Thread: one at a time. Lifetime: `communicator`, which carries nothing else, outlives it;
/// destroyed only when complete.
class LibraryAllReduce {
 public:
  /// `operations`: one for each number.
  LibraryAllReduce(const Communicator& communicator, std::span<const ReduceOperation> operations);
  LibraryAllReduce(const LibraryAllReduce&) = delete;
  LibraryAllReduce& operator=(const LibraryAllReduce&) = delete;

  /// Contribution, set by the caller before each start; result once complete.
  std::span<double> values() { return values_; }

  /// Starts a run. Collective: all ranks start equally many. Throws MpiError.
  void start();

  /// True if the run is complete. Throws MpiError.
  bool test();

 private:
  /// The numbers with one operation, side by side.
  struct Group {
    MPI_Op operation;
    std::vector<std::size_t> components;
    std::vector<double> sent;
    std::vector<double> received;
  };

  const Communicator& communicator_;
  std::vector<double> values_;
  std::vector<Group> groups_;
  std::vector<MPI_Request> requests_;  // [groups_.size()]
};

}  // namespace weft::comm_thread
