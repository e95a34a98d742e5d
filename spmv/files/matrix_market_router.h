#pragma once

#include <cstdint>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/files/matrix_market_entries.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// Collects entries for other ranks and delivers them to the owners of their rows, in rounds of
/// about 1 MB per rank sent, and not much more received when all ranks send to the same one.
///
/// Lifetime: no longer than communicator and partition.
class MatrixMarketRouter {
 public:
  MatrixMarketRouter(const comm_thread::Communicator& communicator, const RowPartition& partition);

  bool owns(GlobalIndex row) const { return row >= first_row_ && row < end_row_; }

  /// Keeps an entry of another rank's row until the next exchange.
  void push(const MatrixEntry& entry);

  bool is_empty() const { return count_ == 0; }
  bool is_full() const { return is_full_; }

  /// Delivers the pushed entries; returns those for this rank, by source rank.
  /// Collective.
  comm_thread::Lists<MatrixEntry> collective_exchange();

 private:
  /// The rank for which the last entry was, and its rows.
  struct Destination {
    GlobalIndex first_row = 0;
    GlobalIndex end_row = 0;
    std::vector<MatrixEntry>* entries = nullptr;
  };

  const comm_thread::Communicator& communicator_;
  const RowPartition& partition_;
  GlobalIndex first_row_;
  GlobalIndex end_row_;
  std::size_t most_per_destination_;
  comm_thread::Lists<MatrixEntry> entries_;
  Destination last_;
  std::size_t count_ = 0;
  bool is_full_ = false;
};

}  // namespace weft::spmv
