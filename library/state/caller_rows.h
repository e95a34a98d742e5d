#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "library/include/weft/weft.hpp"
#include "library/state/vector_map.h"
#include "spmv/matrix/split_matrix.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"

namespace weft::library {

/// Rows in arrays of a caller, made into a matrix whose rows are dealt by row blocks; remembers
/// where each entry went, for other values in the same places.
///
/// Rows that are in order and stay on their rank take 4 bytes an entry beside the caller's, and 8
/// for values that are copied. Where a row of any rank moves all are copied; where one of this rank
/// is not in order 4 bytes more an entry say where it went.
/// Lifetime: `communicator` and `team` outlive it.
class CallerRows {
 public:
  /// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError, on
  /// every rank, where the arrays contradict each other.
  CallerRows(const comm_thread::Communicator& communicator, const comm_thread::ComputeTeam& team,
             const Rows& rows, Values kept);

  /// Which rows are whose before and after.
  const spmv::RowPartition& given() const { return *given_; }
  const spmv::RowPartition& moved() const { return *moved_; }
  bool moves() const { return moves_; }

  /// The matrix, once.
  spmv::DistributedMatrix take_matrix() { return std::move(*matrix_); }

  /// Writes other values, in the order of the caller's, to the matrix. Shape: values: [number of
  /// entries]. Collective. Throws comm_thread::InputError on every rank.
  void collective_update(std::span<const double> values, spmv::SplitMatrix& matrix);

 private:
  /// Rows that came from one rank, in the order given, which is that of the ranks.
  struct Piece {
    std::int64_t first_row = 0;
    std::vector<std::int64_t> own_offsets;  // where the rows came from elsewhere
    std::vector<std::int64_t> own_columns;
    std::span<const std::int64_t> offsets;  // [row count + 1]
    std::span<const std::int64_t> columns;
    std::span<const double> values;
  };
  /// Entries of rows that go to another rank.
  struct Parcel {
    std::size_t begin;
    std::size_t end;
  };

  void check_shape(const Rows& rows, std::int64_t rows_before) const;
  void check_columns(const Rows& rows) const;
  void check_values(std::span<const double> values) const;
  bool is_in_order(const Rows& rows) const;
  spmv::DistributedMatrix use_in_place(const Rows& rows, Values kept);
  spmv::DistributedMatrix collective_assemble(const Rows& rows);
  std::vector<Piece> collective_deal(const Rows& rows,
                                     std::map<int, std::vector<double>>& values_from);
  std::map<int, std::vector<double>> collective_send_values(std::span<const double> values) const;
  void remember_places(const spmv::DistributedMatrix& matrix, const std::vector<Piece>& pieces);
  /// The values of the moved rows as given, in parts, which `received` and `values` hold.
  std::vector<std::span<const double>> parts_of(const std::map<int, std::vector<double>>& received,
                                                std::span<const double> values) const;

  const comm_thread::Communicator& communicator_;
  const comm_thread::ComputeTeam& team_;
  std::unique_ptr<spmv::RowPartition> given_;
  std::unique_ptr<spmv::RowPartition> moved_;
  std::unique_ptr<spmv::DistributedMatrix> matrix_;
  std::size_t given_entry_count_ = 0;
  bool moves_ = false;  // the same on all ranks
  bool is_in_place_ = false;  // likewise: entries are where the caller has them
  const double* borrowed_ = nullptr;
  std::map<int, Parcel> parcels_;  // by receiver; this rank too
  // Of the moved rows; both empty where entries are in the order given.
  std::vector<std::int64_t> entry_begin_;  // [row count + 1]
  std::vector<std::uint32_t> places_;  // of each entry in its row
};

}  // namespace weft::library
