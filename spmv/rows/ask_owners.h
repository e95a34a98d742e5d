#pragma once

#include <span>
#include <utility>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// Asks the owners of `rows` for what they know about them: at the owner answer(row, items) adds
/// items, and here take(item) is called for each, in the order of the owners' ranks and then of
/// `rows`. `Item`: trivially copyable.
/// Collective. Talks to those concerned only.
template <class Item, class Answer, class Take>
void collective_ask_owners(const comm_thread::Communicator& communicator,
                           const RowPartition& partition, std::span<const GlobalIndex> rows,
                           const Answer& answer, const Take& take) {
  comm_thread::Lists<GlobalIndex> wanted;
  for (const GlobalIndex row : rows) wanted[partition.owner(row)].push_back(row);
  comm_thread::Lists<Item> answers;
  for (const auto& [rank, list] :
       comm_thread::collective_sparse_exchange(communicator, std::move(wanted)))
    for (const GlobalIndex row : list) answer(row, answers[rank]);
  for (const auto& [rank, list] :
       comm_thread::collective_sparse_exchange(communicator, std::move(answers)))
    for (const Item& item : list) take(item);
}

}  // namespace weft::spmv
