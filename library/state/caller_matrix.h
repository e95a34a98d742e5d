#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "library/state/row_transfer.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/halo_columns.h"
#include "spmv/rows/partition.h"

namespace weft::library {

/// The local number of a global column; -1 where neither this rank nor its halo has it.
inline spmv::LocalIndex local_column(const spmv::DistributedMatrix& matrix,
                                     spmv::GlobalIndex column) {
  const spmv::GlobalIndex row_count = matrix.partition.size(matrix.rank);
  const spmv::GlobalIndex own = column - matrix.first_row();
  if (own >= 0 && own < row_count) return static_cast<spmv::LocalIndex>(own);
  const spmv::LocalIndex place = spmv::halo_place(matrix.halo_columns, column);
  return place == std::ssize(matrix.halo_columns)
             ? -1
             : static_cast<spmv::LocalIndex>(row_count) + place;
}

/// A matrix made of rows in arrays of a caller, which are dealt by row blocks.
/// Lifetime: `communicator` and `team` outlive it.
class CallerMatrix {
 public:
  virtual ~CallerMatrix() = default;
  CallerMatrix(const CallerMatrix&) = delete;
  CallerMatrix& operator=(const CallerMatrix&) = delete;

  /// Which rows are whose in the arrays, and whether that is otherwise in the matrix.
  const spmv::RowPartition& given() const { return transfer_.given(); }
  bool moves() const { return transfer_.moves(); }

  /// The matrix, once.
  spmv::DistributedMatrix take_matrix() { return std::move(*matrix_); }

  /// Why nobody should solve with the matrix: "found entries … only; expected …" where it has
  /// entries on one side of the diagonal, nothing is said about that, and no values before were on
  /// both sides. Else empty. The same on every rank.
  virtual std::string half() const { return {}; }
  /// What was left out when the matrix was made, in a sentence; empty: nothing.
  const std::string& remark() const { return remark_; }

 protected:
  /// Deals the rows of all ranks, of which this one gives so many. Collective.
  CallerMatrix(const comm_thread::Communicator& communicator, const comm_thread::ComputeTeam& team,
               std::int64_t row_count)
      : communicator_(communicator), team_(team), transfer_(communicator, row_count) {}

  template <class... Values>
  [[noreturn]] void fault(fmt::format_string<Values...> text, Values&&... values) const {
    fault_of_rows(transfer_.rank(), text, std::forward<Values>(values)...);
  }
  /// Throws where rows that begin so, of so many offsets, are none of this rank.
  void check_extent(std::int64_t first_row, std::size_t offset_count) const;
  /// Without an end at the first that is not, so that it is vectorized.
  bool are_finite(std::span<const double> values) const;
  /// A matrix for this rank's rows, once they are dealt.
  spmv::DistributedMatrix without_rows() const;

  const comm_thread::Communicator& communicator_;
  const comm_thread::ComputeTeam& team_;
  RowTransfer transfer_;
  std::unique_ptr<spmv::DistributedMatrix> matrix_;
  std::string remark_;
};

}  // namespace weft::library
