#pragma once

#include <map>
#include <utility>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::solver {

/// Asks the owners of `rows` for what they know about them: at the owner answer(row, items) adds
/// items, and here take(item) is called for each. `Item`: trivially copyable.
/// Collective. Talks to those concerned only.
template <class Item, class Answer, class Take>
void collective_ask_owners(const comm_thread::Communicator& communicator,
                           const spmv::RowPartition& partition,
                           const std::vector<spmv::GlobalIndex>& rows, const Answer& answer,
                           const Take& take) {
  std::map<int, std::vector<spmv::GlobalIndex>> wanted;
  for (const spmv::GlobalIndex row : rows) wanted[partition.owner(row)].push_back(row);
  std::map<int, comm_thread::Bytes> requests;
  for (const auto& [rank, list] : wanted) requests[rank] = comm_thread::to_bytes(list);
  std::map<int, comm_thread::Bytes> answers;
  for (const auto& [rank, bytes] :
       comm_thread::collective_sparse_exchange(communicator, std::move(requests))) {
    std::vector<Item> items;
    for (const spmv::GlobalIndex row : comm_thread::from_bytes<spmv::GlobalIndex>(bytes))
      answer(row, items);
    answers[rank] = comm_thread::to_bytes(items);
  }
  for (const auto& [rank, bytes] :
       comm_thread::collective_sparse_exchange(communicator, std::move(answers)))
    for (const Item& item : comm_thread::from_bytes<Item>(bytes)) take(item);
}

}  // namespace weft::solver
