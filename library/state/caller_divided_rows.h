#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "library/include/weft/weft.hpp"
#include "library/state/caller_matrix.h"
#include "library/state/divided_rows_check.h"
#include "library/state/divided_rows_view.h"
#include "library/state/row_transfer.h"
#include "spmv/matrix/split_matrix.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/index.h"

namespace weft::library {

/// Rows in two blocks of a caller, made into a matrix whose rows are dealt by row blocks: each
/// entry is read once and written once. Entries off the diagonal that are exactly zero are left
/// out. The caller's arrays are used only during a call.
///
/// Memory: 12 bytes an entry of the matrix, and during a call 20 of rows that come from other
/// ranks.
/// Lifetime: `communicator` and `team` outlive it.
template <class Index>
class CallerDividedRows final : public CallerMatrix {
 public:
  /// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError, on
  /// every rank, where the arrays contradict each other.
  CallerDividedRows(const comm_thread::Communicator& communicator,
                    const comm_thread::ComputeTeam& team, const DividedRows<Index>& rows);

  /// Writes other values of the same rows to the matrix. Returns whether other places than before
  /// have entries, on any rank. Collective. Throws comm_thread::InputError on every rank; the
  /// matrix is then as it was where a value is not finite or there are other numbers of entries.
  bool collective_update(const DividedRows<Index>& rows, spmv::SplitMatrix& matrix);

 private:
  using View = DividedRowsView<Index>;
  /// Rows made of a view.
  struct Made {
    spmv::CrsMatrix rows;
    bool is_valid = true;
    std::vector<char> uses_halo;  // [halo count], by zeros, too
  };

  DividedRowsCheck<Index> check_of(const DividedRows<Index>& rows) const {
    return {rows, transfer_.given(), transfer_.rank()};
  }
  void check_values(const DividedRows<Index>& rows) const;
  FromBothSides<ReceivedRows> collective_receive(const DividedRows<Index>& rows) const;
  std::vector<spmv::GlobalIndex> halo_of(const DividedRows<Index>& rows,
                                         const FromBothSides<ReceivedRows>& received) const;
  Made make(const View& view) const;
  bool update_in_place(const View& view, spmv::SplitMatrix& matrix) const;

  std::size_t own_count_ = 0;  // of entries given
  std::size_t other_count_ = 0;
  bool has_zeros_left_out_ = false;  // the same on all ranks
};

extern template class CallerDividedRows<std::int32_t>;
extern template class CallerDividedRows<std::int64_t>;

}  // namespace weft::library
