#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "library/include/weft/weft.hpp"
#include "library/state/caller_matrix.h"
#include "spmv/matrix/split_matrix.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/index.h"

namespace weft::library {

/// Rows in two blocks of a caller, made into a matrix whose rows are dealt by row blocks: each
/// entry is read once and written once. Entries off the diagonal that are exactly zero are left
/// out. The caller's arrays are used only during a call.
///
///     rows of this rank after the move:   before_ | those that stay, from the arrays | behind_
///
/// Memory: 12 bytes an entry of the matrix, and 20 of rows that come from other ranks.
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
  /// Rows that came from other ranks.
  struct Received {
    std::vector<std::int64_t> offsets{0};
    std::vector<spmv::GlobalIndex> columns;
    std::vector<double> values;
  };
  /// What a thread sees of rows that it visits.
  struct Seen {
    bool is_valid = true;
    std::vector<char> uses_halo;  // [halo count]
  };
  /// The caller's rows and those received, by rows and local columns of the matrix.
  class View;
  /// Rows made of a view.
  struct Made {
    spmv::CrsMatrix rows;
    bool is_valid = true;
    std::vector<char> uses_halo;  // [halo count], by zeros, too
  };

  void check_shape(const DividedRows<Index>& rows) const;
  void check_columns_of_others(const DividedRows<Index>& rows) const;
  /// Throws where a column or a value of rows first … last - 1 of the caller is wrong. Slow.
  void find_fault(const DividedRows<Index>& rows, std::size_t first, std::size_t last) const;
  void check_values(const DividedRows<Index>& rows) const;
  void append_rows(const DividedRows<Index>& rows, spmv::GlobalIndex first, spmv::GlobalIndex last,
                   std::vector<spmv::GlobalIndex>& places, std::vector<double>& values) const;
  /// Sends rows of this rank that move, and takes those that come.
  void collective_receive(const DividedRows<Index>& rows);
  std::vector<spmv::GlobalIndex> halo_of(const DividedRows<Index>& rows) const;
  spmv::CrsMatrix make_room(const View& view) const;
  Made make(const View& view) const;
  bool update_in_place(const View& view, spmv::SplitMatrix& matrix) const;

  std::size_t own_count_ = 0;  // of entries given
  std::size_t other_count_ = 0;
  bool has_zeros_left_out_ = false;  // the same on all ranks
  spmv::LocalIndex kept_begin_ = 0;  // rows of the matrix that stay on this rank
  spmv::LocalIndex kept_end_ = 0;
  Received before_;
  Received behind_;
};

extern template class CallerDividedRows<std::int32_t>;
extern template class CallerDividedRows<std::int64_t>;

}  // namespace weft::library
