#include "spmv/rows/halo_plan.h"

#include <map>

#include "comm_thread/mpi/sparse_exchange.h"

namespace weft::spmv {

HaloPlan collective_build_halo_plan(const comm_thread::Communicator& communicator,
                                    const RowPartition& partition, int rank,
                                    std::span<const GlobalIndex> columns) {
  comm_thread::Lists<GlobalIndex> wanted_from;
  for (const GlobalIndex column : columns) wanted_from[partition.owner(column)].push_back(column);

  std::map<int, comm_thread::HaloNeighbour> neighbours;
  std::int64_t received = 0;
  for (const auto& [owner, wanted] : wanted_from) {
    neighbours[owner].receive_begin = received;
    neighbours[owner].receive_count = std::ssize(wanted);
    received += std::ssize(wanted);
  }

  HaloPlan plan;
  plan.halo_count = received;
  for (const auto& [asker, wanted] :
       comm_thread::collective_sparse_exchange(communicator, std::move(wanted_from))) {
    neighbours[asker].send_begin = std::ssize(plan.send_list);
    neighbours[asker].send_count = std::ssize(wanted);
    for (const GlobalIndex column : wanted)
      plan.send_list.push_back(static_cast<LocalIndex>(column - partition.begin(rank)));
  }
  plan.neighbours = comm_thread::in_order(neighbours);
  return plan;
}

}  // namespace weft::spmv
