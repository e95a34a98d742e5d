#pragma once

#include <span>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// New numbering of the rows of a matrix, and the owners of the rows before and after.
///
///     given rows    0 1 2 | 3 4 5      new rows 4 0 2 | 1 5 3, on the ranks of the given rows
///     ordered rows  1 3 2 | 5 0 4      (their given numbers), on the ranks of the ordered rows
///
/// Every rank stores its own rows only. Lifetime: `communicator` outlives it.
class RowOrder {
 public:
  /// `new_rows`: [given.size(rank)], the new numbers of the own given rows.
  /// Collective.
  RowOrder(const comm_thread::Communicator& communicator, RowPartition given, RowPartition ordered,
           std::vector<GlobalIndex> new_rows);

  const RowPartition& given() const { return given_; }
  const RowPartition& ordered() const { return ordered_; }

  /// The new numbers of the own given rows, and the given numbers of the own ordered rows.
  std::span<const GlobalIndex> new_rows() const { return new_rows_; }
  std::span<const GlobalIndex> given_rows() const { return given_rows_; }

  /// A vector in the given order, [given.size(rank)], in the new order, and back. Collective.
  std::vector<double> collective_apply(std::span<const double> values) const;
  std::vector<double> collective_undo(std::span<const double> values) const;

  /// The new numbers of the columns of `matrix`, whose rows are the given ones, by local column:
  /// own rows, then the halo. Collective.
  std::vector<GlobalIndex> collective_new_columns(const DistributedMatrix& matrix) const;

 private:
  const comm_thread::Communicator* communicator_;
  RowPartition given_;
  RowPartition ordered_;
  std::vector<GlobalIndex> new_rows_;  // of the own given rows
  std::vector<GlobalIndex> given_rows_;  // of the own ordered rows
};

}  // namespace weft::spmv
