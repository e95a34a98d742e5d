#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "library/include/weft/weft.hpp"
#include "library/state/caller_matrix.h"
#include "library/state/row_transfer.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/index.h"

namespace weft::library {

/// Walks through rows in two blocks in ascending order of columns.
///
///     row of a rank in the middle:   others before | own | others behind
///
/// Lifetime: the arrays of `rows` outlive it.
template <class Index>
class DividedRowWalk {
 public:
  using Block = typename DividedRows<Index>::Block;

  explicit DividedRowWalk(const DividedRows<Index>& rows)
      : rows_(rows),
        first_behind_(static_cast<Index>(
            std::ranges::lower_bound(rows.columns_of_others, rows.first_row, {},
                                     [](Index column) { return std::int64_t{column}; }) -
            rows.columns_of_others.begin())) {}

  /// Calls on_others(run), on_own(run), on_others(run) for a row of the caller's, whose columns may
  /// be wrong. A run is a block without offsets.
  template <class OnOthers, class OnOwn>
  void visit(std::size_t row, const OnOthers& on_others, const OnOwn& on_own) const {
    const Block own = run_of(rows_.own, rows_.own.offsets[row], rows_.own.offsets[row + 1]);
    if (rows_.others.offsets.empty()) return on_own(own);
    const Index begin = rows_.others.offsets[row];
    const Index end = rows_.others.offsets[row + 1];
    Index behind = begin;
    while (behind < end && rows_.others.columns[static_cast<std::size_t>(behind)] < first_behind_)
      ++behind;
    on_others(run_of(rows_.others, begin, behind));
    on_own(own);
    on_others(run_of(rows_.others, behind, end));
  }

  /// Entries of a row as given, zeros included.
  std::int64_t length(std::size_t row) const {
    const std::int64_t own = rows_.own.offsets[row + 1] - rows_.own.offsets[row];
    return rows_.others.offsets.empty()
               ? own
               : own + rows_.others.offsets[row + 1] - rows_.others.offsets[row];
  }

  const DividedRows<Index>& rows() const { return rows_; }

 private:
  static Block run_of(const Block& block, Index first, Index end) {
    const auto begin = static_cast<std::size_t>(first);
    const auto count = static_cast<std::size_t>(end - first);
    return {{}, block.columns.subspan(begin, count), block.values.subspan(begin, count)};
  }

  DividedRows<Index> rows_;
  Index first_behind_;  // place in columns_of_others
};

/// The rows of a matrix, by local numbers: those of the caller that stay on this rank, and those
/// that come from others.
/// Lifetime: what it is made of outlives it.
template <class Index>
class DividedRowsView {
 public:
  using LocalIndex = spmv::LocalIndex;
  using Block = typename DividedRows<Index>::Block;

  /// What a thread sees of rows that it visits.
  struct Seen {
    bool is_valid = true;
    std::vector<char> uses_halo;  // [halo count]
  };

  /// `matrix`: its partition and its halo; its rows may be none yet.
  DividedRowsView(const DividedRows<Index>& rows, const RowTransfer& transfer,
                  const FromBothSides<ReceivedRows>& received,
                  const spmv::DistributedMatrix& matrix)
      : walk_(rows),
        matrix_(matrix),
        received_(received),
        row_count_(static_cast<LocalIndex>(matrix.partition.size(matrix.rank))),
        kept_begin_(static_cast<LocalIndex>(received.before.count())),
        kept_end_(kept_begin_ +
                  static_cast<LocalIndex>(transfer.kept().end - transfer.kept().begin)),
        own_begin_(rows.first_row - matrix.first_row()),
        own_count_(std::ssize(rows.own.offsets) - 1) {
    places_of_others_.reserve(rows.columns_of_others.size());
    auto in_halo = matrix.halo_columns.begin();  // both ascend
    for (const Index column : rows.columns_of_others) {
      while (in_halo != matrix.halo_columns.end() && *in_halo < column) ++in_halo;
      const bool is_in_halo = in_halo != matrix.halo_columns.end() && *in_halo == column;
      places_of_others_.push_back(
          is_in_halo ? row_count_ + static_cast<LocalIndex>(in_halo - matrix.halo_columns.begin())
                     : local_column(matrix, column));
    }
  }

  LocalIndex row_count() const { return row_count_; }
  Seen nothing_seen() const {
    return {.is_valid = true, .uses_halo = std::vector<char>(matrix_.halo_columns.size())};
  }

  /// Entries of a row as given, zeros included.
  std::int64_t length(LocalIndex row) const {
    const auto [received, place] = place_of(row);
    return received ? received->offsets[place + 1] - received->offsets[place] : walk_.length(place);
  }

  /// Gives the entries of a row whose columns are right to `take`, in ascending global order:
  /// take.run(columns, shift, values) has those in columns + shift of this rank, and
  /// take.entry(local column, value) all others. Notes what it sees.
  template <class Take>
  void visit(LocalIndex row, Seen& seen, Take& take) const {
    const auto [received, place] = place_of(row);
    if (received) {
      for (auto k = static_cast<std::size_t>(received->offsets[place]);
           k < static_cast<std::size_t>(received->offsets[place + 1]); ++k)
        take_rare(local_column(matrix_, received->columns[k]), received->values[k], seen, take);
      return;
    }
    Index last = -1;
    walk_.visit(
        place, [&](const Block& others) { take_others(others, last, seen, take); },
        [&](const Block& own) { take_own(own, seen, take); });
  }

 private:
  static constexpr double largest = std::numeric_limits<double>::max();

  struct Place {
    const ReceivedRows* received;  // null: the caller's
    std::size_t row;
  };
  Place place_of(LocalIndex row) const {
    if (row < kept_begin_) return {&received_.before, static_cast<std::size_t>(row)};
    if (row < kept_end_) return {nullptr, static_cast<std::size_t>(row - own_begin_)};
    return {&received_.behind, static_cast<std::size_t>(row - kept_end_)};
  }

  /// Takes an entry that may be in the halo.
  template <class Take>
  void take_rare(LocalIndex column, double value, Seen& seen, Take& take) const {
    seen.is_valid &= column >= 0 && std::abs(value) <= largest;
    if (column < 0) return;
    if (column >= row_count_) seen.uses_halo[static_cast<std::size_t>(column - row_count_)] = 1;
    take.entry(column, value);
  }

  template <class Take>
  void take_own(const Block& own, Seen& seen, Take& take) const {
    const std::size_t count = own.columns.size();
    if (count == 0) return;
    const Index* const columns = own.columns.data();
    const double* const values = own.values.data();
    bool is_valid = columns[0] >= 0 && columns[count - 1] < own_count_;
    for (std::size_t k = 1; k < count; ++k) is_valid &= columns[k - 1] < columns[k];
    for (std::size_t k = 0; k < count; ++k) is_valid &= std::abs(values[k]) <= largest;
    seen.is_valid &= is_valid;
    // Columns ascend, or it is seen.
    if (columns[0] + own_begin_ >= 0 && columns[count - 1] + own_begin_ < row_count_)
      return take.run(own.columns, static_cast<LocalIndex>(own_begin_), own.values);
    for (std::size_t k = 0; k < count; ++k)
      take_rare(local_column(matrix_, walk_.rows().first_row + columns[k]), values[k], seen, take);
  }

  /// `last`: the place of the last other in the row.
  template <class Take>
  void take_others(const Block& others, Index& last, Seen& seen, Take& take) const {
    for (std::size_t k = 0; k < others.columns.size(); ++k) {
      const Index column = others.columns[k];
      if (column <= last || column >= std::ssize(places_of_others_)) {
        seen.is_valid = false;
        continue;
      }
      last = column;
      take_rare(places_of_others_[static_cast<std::size_t>(column)], others.values[k], seen, take);
    }
  }

  DividedRowWalk<Index> walk_;
  const spmv::DistributedMatrix& matrix_;
  const FromBothSides<ReceivedRows>& received_;
  LocalIndex row_count_;
  LocalIndex kept_begin_;  // rows of the caller that stay on this rank
  LocalIndex kept_end_;
  spmv::GlobalIndex own_begin_;  // the row and column of the matrix that the caller's first is
  std::int64_t own_count_;  // of the caller's rows
  std::vector<LocalIndex> places_of_others_;
};

}  // namespace weft::library
