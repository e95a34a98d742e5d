#include "spmv/rows/halo_plan.h"

#include <map>

#include "comm_thread/mpi/sparse_exchange.h"

namespace weft::spmv {

HaloPlan collective_build_halo_plan(const comm_thread::Communicator& communicator,
                                    const DistributedMatrix& matrix) {
  std::map<int, std::vector<GlobalIndex>> wanted_from;
  for (const GlobalIndex column : matrix.halo_columns)
    wanted_from[matrix.partition.owner(column)].push_back(column);

  std::map<int, comm_thread::Bytes> requests;
  std::map<int, comm_thread::HaloNeighbour> neighbours;
  std::int64_t received = 0;
  for (const auto& [rank, columns] : wanted_from) {
    requests[rank] = comm_thread::to_bytes(columns);
    neighbours[rank].receive_begin = received;
    neighbours[rank].receive_count = std::ssize(columns);
    received += std::ssize(columns);
  }

  HaloPlan plan;
  plan.halo_count = received;
  for (const auto& [rank, bytes] :
       comm_thread::collective_sparse_exchange(communicator, std::move(requests))) {
    const auto columns = comm_thread::from_bytes<GlobalIndex>(bytes);
    neighbours[rank].send_begin = std::ssize(plan.send_list);
    neighbours[rank].send_count = std::ssize(columns);
    for (const GlobalIndex column : columns)
      plan.send_list.push_back(static_cast<LocalIndex>(column - matrix.first_row()));
  }
  for (auto& [rank, neighbour] : neighbours) {
    neighbour.rank = rank;
    plan.neighbours.push_back(neighbour);
  }
  return plan;
}

}  // namespace weft::spmv
