#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// Delivers values[i] to the owner of row rows[i] of `partition`, which calls `put(row, value)` for
/// each that comes, in any order. Only ranks that have something for each other talk.
/// Collective. Memory: 32 bytes for each value that leaves or comes.
template <class Value, class Put>
void collective_deliver(const comm_thread::Communicator& communicator,
                        const RowPartition& partition, std::span<const GlobalIndex> rows,
                        std::span<const Value> values, const Put& put) {
  struct Parcel {
    GlobalIndex row;
    Value value;
  };
  comm_thread::Lists<Parcel> parcels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int owner = partition.owner(rows[i]);
    if (owner == communicator.rank())
      put(rows[i], values[i]);
    else
      parcels[owner].push_back({rows[i], values[i]});
  }
  for (const auto& [source, list] :
       comm_thread::collective_sparse_exchange(communicator, std::move(parcels)))
    for (const Parcel& parcel : list) put(parcel.row, parcel.value);
}

}  // namespace weft::spmv
