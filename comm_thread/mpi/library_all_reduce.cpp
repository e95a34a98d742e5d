#include "comm_thread/mpi/library_all_reduce.h"

#include <array>
#include <utility>

#include "comm_thread/mpi/mpi_error.h"

namespace weft::comm_thread {

LibraryAllReduce::LibraryAllReduce(MPI_Comm communicator,
                                   std::span<const ReduceOperation> operations)
    : communicator_(communicator), values_(operations.size()) {
  const std::array<std::pair<ReduceOperation, MPI_Op>, 3> known{{{ReduceOperation::sum, MPI_SUM},
                                                                 {ReduceOperation::min, MPI_MIN},
                                                                 {ReduceOperation::max, MPI_MAX}}};
  for (const auto& [operation, mpi_operation] : known) {
    Group group{mpi_operation, {}, {}, {}};
    for (std::size_t i = 0; i < operations.size(); ++i)
      if (operations[i] == operation) group.components.push_back(i);
    if (group.components.empty()) continue;
    group.sent.resize(group.components.size());
    group.received.resize(group.components.size());
    groups_.push_back(std::move(group));
  }
  requests_.assign(groups_.size(), MPI_REQUEST_NULL);
}

void LibraryAllReduce::start() {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    for (std::size_t i = 0; i < group.sent.size(); ++i)
      group.sent[i] = values_[group.components[i]];
    check_mpi(MPI_Iallreduce(group.sent.data(), group.received.data(),
                             static_cast<int>(group.sent.size()), MPI_DOUBLE, group.operation,
                             communicator_, &requests_[g]),
              "start an all-reduce");
  }
}

bool LibraryAllReduce::test() {
  int is_complete = 0;
  check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &is_complete,
                        MPI_STATUSES_IGNORE),
            "progress an all-reduce");
  if (is_complete == 0) return false;
  for (const Group& group : groups_)
    for (std::size_t i = 0; i < group.received.size(); ++i)
      values_[group.components[i]] = group.received[i];
  return true;
}

}  // namespace weft::comm_thread
