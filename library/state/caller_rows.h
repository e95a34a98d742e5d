#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "library/include/weft/weft.hpp"
#include "library/state/caller_matrix.h"
#include "spmv/entries/diagonal_sides.h"
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
///
/// The matrix has no entries off the diagonal that are exactly zero, and has both triangles where
/// the rows are said to be half of a symmetric matrix. If any rank has such entries, or with half
/// of a matrix, the rows are kept as they were given, 12 bytes an entry more; new values may then
/// have zeros in other places.
/// Lifetime: `communicator` and `team` outlive it.
class CallerRows final : public CallerMatrix {
 public:
  /// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError, on
  /// every rank, where the arrays contradict each other.
  CallerRows(const comm_thread::Communicator& communicator, const comm_thread::ComputeTeam& team,
             const Rows& rows, Values kept, spmv::Triangle triangle = spmv::Triangle::unsaid);

  std::string half() const override;

  /// Writes other values, in the order of the caller's, to the matrix. Returns whether other places
  /// than before have entries, on any rank. Shape: values: [number of entries]. Collective. Throws
  /// comm_thread::InputError on every rank; the matrix is then as it was.
  bool collective_update(std::span<const double> values, spmv::SplitMatrix& matrix);

 private:
  /// Rows that stay, or that came from one side, in the order given.
  struct Piece {
    std::int64_t first_row = 0;
    std::span<const std::int64_t> offsets;  // [row count + 1]
    std::span<const std::int64_t> columns;
    std::span<const double> values;
  };
  /// Entries of consecutive rows.
  struct Entries {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  /// Writes values to those of the rows that a thread of the team owns.
  using WriteValues =
      std::function<void(const comm_thread::TeamThread& thread, spmv::LocalIndex begin,
                         spmv::LocalIndex end, std::span<double> values)>;

  void check_shape(const Rows& rows) const;
  /// Whether the columns of every row ascend.
  bool check_columns(const Rows& rows) const;
  void check_values(std::span<const double> values) const;
  /// From rows that are in order on every rank, without a sort.
  spmv::DistributedMatrix collective_use_order(const Rows& rows, Values kept);
  spmv::DistributedMatrix rows_in_order(std::span<const Piece> pieces, bool borrows) const;
  spmv::DistributedMatrix collective_assemble(const Rows& rows);
  void collective_settle();
  void collective_look(const spmv::DistributedMatrix& matrix);
  /// The matrix that is meant by the rows as given.
  spmv::DistributedMatrix collective_settled() const;
  /// Calls `run` with what writes other values to rows with these offsets. Collective.
  void collective_write(std::span<const double> values, std::span<const std::int64_t> offsets,
                        const std::function<void(const WriteValues& write)>& run);
  /// Sends rows of this rank that move, and takes those that come.
  FromBothSides<ReceivedRows> collective_receive(const Rows& rows);
  /// The rows after the move, in their order, of which none is empty.
  std::vector<Piece> pieces_of(const Rows& rows, const FromBothSides<ReceivedRows>& received) const;
  comm_thread::Lists<double> values_that_leave(std::span<const double> values) const;
  void remember_places(const spmv::DistributedMatrix& matrix, const std::vector<Piece>& pieces);

  spmv::Triangle triangle_;
  spmv::DiagonalSides sides_;  // of the last values, or of the first ones that were on both
  std::unique_ptr<spmv::DistributedMatrix> as_given_;  // null on all ranks: it is the matrix
  std::size_t given_entry_count_ = 0;
  bool is_in_place_ = false;  // the same on all ranks: entries are where the caller has them
  const double* borrowed_ = nullptr;
  std::map<int, Entries> leaving_;  // by receiver
  Entries kept_entries_;
  // Places of the moved rows' entries; both empty where entries are in the order given.
  std::vector<std::int64_t> entry_begin_;  // [row count + 1]
  std::vector<std::uint32_t> places_;  // of each entry in its row
};

}  // namespace weft::library
