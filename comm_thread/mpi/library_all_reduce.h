#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "comm_thread/mpi/message_space.h"
#include "comm_thread/mpi/reduce_operation.h"

namespace weft::comm_thread {

/// The MPI library's own non-blocking all-reduce of a few numbers: one MPI_Iallreduce for each
/// operation that occurs.
///
/// Lifetime: `communicator`, which carries nothing else, outlives it.
class LibraryAllReduce final : public PreparedReduction {
 public:
  /// `operations`: one for each number.
  LibraryAllReduce(MPI_Comm communicator, std::span<const ReduceOperation> operations);
  LibraryAllReduce(const LibraryAllReduce&) = delete;
  LibraryAllReduce& operator=(const LibraryAllReduce&) = delete;

  std::span<double> values() override { return values_; }
  void start() override;
  bool test() override;

 private:
  /// The numbers with one operation, side by side.
  struct Group {
    MPI_Op operation;
    std::vector<std::size_t> components;
    std::vector<double> sent;
    std::vector<double> received;
  };

  MPI_Comm communicator_;
  std::vector<double> values_;
  std::vector<Group> groups_;
  std::vector<MPI_Request> requests_;  // [groups_.size()]
};

}  // namespace weft::comm_thread
