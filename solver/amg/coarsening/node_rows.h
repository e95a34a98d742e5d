#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::solver::amg {

/// Nodes of `block_size` consecutive rows each. A node belongs to the rank that has its first row;
/// a cut between ranks may go through a node.
///
///     3 rows a node, ranks have rows 0 … 3 | 4 … 8     nodes 0 1 | 2, and rank 1 has rows of node
///     1
class NodeRows {
 public:
  /// `rows`: of which rank is `rank`; their number is a multiple of `block_size`.
  NodeRows(const spmv::RowPartition& rows, int rank, int block_size)
      : rows_(rows), rank_(rank), block_size_(block_size), nodes_(cut(rows, block_size)) {}

  int block_size() const { return block_size_; }
  const spmv::RowPartition& nodes() const { return nodes_; }
  spmv::GlobalIndex node(spmv::LocalIndex row) const {
    return (rows_.begin(rank_) + row) / block_size_;
  }
  spmv::LocalIndex node_count() const { return static_cast<spmv::LocalIndex>(nodes_.size(rank_)); }
  /// How many of this rank's first rows are of another rank's node.
  spmv::LocalIndex head_count() const {
    const spmv::GlobalIndex first = nodes_.begin(rank_) * block_size_;
    const spmv::GlobalIndex own = rows_.size(rank_);
    return static_cast<spmv::LocalIndex>(std::min(own, first - rows_.begin(rank_)));
  }
  /// Does a cut between ranks go through a node?
  bool are_cut() const {
    for (int rank = 0; rank < rows_.rank_count(); ++rank)
      if (rows_.begin(rank) % block_size_ != 0) return true;
    return false;
  }

  /// Values of own nodes, [nodes][width], for each of this rank's rows: [rows][width].
  /// Collective. Thread: the main thread. Talks to those concerned only.
  template <class Value>
  std::vector<Value> collective_spread(const comm_thread::Communicator& communicator,
                                       std::span<const Value> values, std::size_t width) const {
    std::vector<Value> head;
    if (are_cut()) head = collective_fetch_head(communicator, values, width);
    std::vector<Value> spread;
    const auto row_count = static_cast<spmv::LocalIndex>(rows_.size(rank_));
    spread.reserve(static_cast<std::size_t>(row_count) * width);
    for (spmv::LocalIndex row = 0; row < row_count; ++row) {
      const auto place =
          row < head_count() ? 0 : static_cast<std::size_t>(node(row) - nodes_.begin(rank_));
      const auto from = row < head_count() ? std::span<const Value>(head) : values;
      const auto own = from.subspan(place * width, width);
      spread.insert(spread.end(), own.begin(), own.end());
    }
    return spread;
  }

 private:
  static spmv::RowPartition cut(const spmv::RowPartition& rows, int block_size) {
    std::vector<spmv::GlobalIndex> sizes;
    const auto nodes_before = [&](spmv::GlobalIndex row) {
      return (row + block_size - 1) / block_size;
    };
    for (int rank = 0; rank < rows.rank_count(); ++rank)
      sizes.push_back(nodes_before(rows.end(rank)) - nodes_before(rows.begin(rank)));
    return spmv::RowPartition::by_sizes(sizes);
  }

  /// The values of the node of this rank's first rows, where another rank has it.
  template <class Value>
  std::vector<Value> collective_fetch_head(const comm_thread::Communicator& communicator,
                                           std::span<const Value> values, std::size_t width) const {
    comm_thread::Lists<Value> lists;
    if (node_count() > 0) {
      const auto last = values.last(width);
      const spmv::GlobalIndex end = nodes_.end(rank_) * block_size_;
      for (int rank = rank_ + 1; rank < rows_.rank_count() && rows_.begin(rank) < end; ++rank)
        if (rows_.size(rank) > 0) lists[rank].assign(last.begin(), last.end());
    }
    return comm_thread::collective_exchange_joined(communicator, std::move(lists));
  }

  const spmv::RowPartition& rows_;
  int rank_;
  int block_size_;
  spmv::RowPartition nodes_;
};

}  // namespace weft::solver::amg
