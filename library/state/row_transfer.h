#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::library {

/// Throws comm_thread::InputError: "rows of rank 1: TEXT", which `values` complete.
template <class... Values>
[[noreturn]] void fault_of_rows(int rank, fmt::format_string<Values...> text, Values&&... values) {
  throw comm_thread::InputError(
      fmt::format("rows of rank {}: {}", rank, fmt::format(text, std::forward<Values>(values)...)));
}

/// Rows on their way to other ranks: of each row its length and its global columns, in one list.
struct ParcelsOfRows {
  comm_thread::Lists<spmv::GlobalIndex> places;
  comm_thread::Lists<double> values;
};

/// Rows that came from other ranks, in ascending order.
struct ReceivedRows {
  std::vector<std::int64_t> offsets{0};
  std::vector<spmv::GlobalIndex> columns;
  std::vector<double> values;

  std::int64_t count() const { return std::ssize(offsets) - 1; }
};

/// What came from the ranks before this one, and from those behind it.
template <class Kind>
struct FromBothSides {
  Kind before;
  Kind behind;
};

/// Consecutive rows of all ranks, dealt by row blocks, and the way of each to its new rank.
///
///     rows of this rank:   received from ranks before | kept | received from ranks behind
///
/// Lifetime: `communicator` outlives it.
class RowTransfer {
 public:
  struct Range {
    spmv::GlobalIndex begin;
    spmv::GlobalIndex end;
    bool is_empty() const { return begin == end; }
  };

  /// `row_count`: of this rank. Collective.
  RowTransfer(const comm_thread::Communicator& communicator, std::int64_t row_count);

  /// Which rows are whose before and after.
  const spmv::RowPartition& given() const { return given_; }
  const spmv::RowPartition& moved() const { return moved_; }
  /// True where any row of any rank moves; the same on all.
  bool moves() const { return moves_; }
  int rank() const { return communicator_.rank(); }

  /// This rank's rows that rank `other` gets.
  Range range_for(int other) const {
    const spmv::GlobalIndex begin = std::max(given_.begin(rank()), moved_.begin(other));
    return {begin, std::max(begin, std::min(given_.end(rank()), moved_.end(other)))};
  }
  Range kept() const { return range_for(rank()); }
  /// Calls visit(rank, range) for the rows that other ranks get.
  template <class Visit>
  void for_each_leaving(const Visit& visit) const {
    if (!moves_) return;
    for (int other = 0; other < moved_.rank_count(); ++other)
      if (const Range range = range_for(other); other != rank() && !range.is_empty())
        visit(other, range);
  }

  /// Sends rows, and takes those that come. Collective, as the next.
  FromBothSides<ReceivedRows> collective_exchange(ParcelsOfRows parcels) const;
  FromBothSides<std::vector<double>> collective_exchange(comm_thread::Lists<double> values) const;

 private:
  const comm_thread::Communicator& communicator_;
  spmv::RowPartition given_;
  spmv::RowPartition moved_;
  bool moves_ = false;
};

}  // namespace weft::library
