#include "library/state/caller_divided_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/entries/explicit_zeros.h"
#include "spmv/rows/halo_columns.h"
#include "spmv/rows/thread_rows.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

constexpr double largest = std::numeric_limits<double>::max();

template <class Index>
std::size_t row_count_of(const DividedRows<Index>& rows) {
  return rows.own.offsets.empty() ? 0 : rows.own.offsets.size() - 1;
}

/// Calls visit(global column, value) for the entries of a row, in ascending order.
template <class Index, class Visit>
void visit_row(const DividedRows<Index>& rows, std::size_t row, const Visit& visit) {
  const auto place = [](auto k) { return static_cast<std::size_t>(k); };
  const auto visit_other = [&](Index k) {
    visit(static_cast<GlobalIndex>(rows.columns_of_others[place(rows.others.columns[place(k)])]),
          rows.others.values[place(k)]);
  };
  const bool has_others = !rows.others.offsets.empty();
  Index other = has_others ? rows.others.offsets[row] : 0;
  const Index end = has_others ? rows.others.offsets[row + 1] : 0;
  for (; other < end &&
         rows.columns_of_others[place(rows.others.columns[place(other)])] < rows.first_row;
       ++other)
    visit_other(other);
  for (Index k = rows.own.offsets[row]; k < rows.own.offsets[row + 1]; ++k)
    visit(rows.first_row + rows.own.columns[place(k)], rows.own.values[place(k)]);
  for (; other < end; ++other) visit_other(other);
}

}  // namespace

/// Lifetime: what it is made of outlives it.
template <class Index>
class CallerDividedRows<Index>::View {
 public:
  View(const CallerDividedRows& of, const DividedRows<Index>& rows,
       std::span<const GlobalIndex> halo)
      : of_(of),
        rows_(rows),
        halo_(halo),
        begin_(of.moved_->begin(of.communicator_.rank())),
        row_count_(static_cast<LocalIndex>(of.moved_->size(of.communicator_.rank()))),
        own_begin_(rows.first_row - begin_) {
    places_of_others_.reserve(rows.columns_of_others.size());
    for (const Index column : rows.columns_of_others) places_of_others_.push_back(local(column));
  }

  LocalIndex row_count() const { return row_count_; }
  std::size_t halo_count() const { return halo_.size(); }

  /// Entries of a row as given, zeros included.
  std::int64_t length(LocalIndex row) const {
    if (const Received* const received = received_of(row))
      return received->offsets[static_cast<std::size_t>(row) + 1] -
             received->offsets[static_cast<std::size_t>(row)];
    const std::size_t given = given_row(row);
    const std::int64_t own = rows_.own.offsets[given + 1] - rows_.own.offsets[given];
    return rows_.others.offsets.empty()
               ? own
               : own + rows_.others.offsets[given + 1] - rows_.others.offsets[given];
  }

  /// Calls take(local column, value) for the entries of a row whose columns are right, in ascending
  /// global order. Notes what it sees.
  template <class Take>
  void visit(LocalIndex row, Seen& seen, const Take& take) const {
    if (const Received* const received = received_of(row)) {
      for (auto k = received->offsets[static_cast<std::size_t>(row)];
           k < received->offsets[static_cast<std::size_t>(row) + 1]; ++k)
        take_rare(local(received->columns[static_cast<std::size_t>(k)]),
                  received->values[static_cast<std::size_t>(k)], seen, take);
      return;
    }
    const std::size_t given = given_row(row);
    const bool has_others = !rows_.others.offsets.empty();
    Index other = has_others ? rows_.others.offsets[given] : 0;
    const Index end = has_others ? rows_.others.offsets[given + 1] : 0;
    Index last = -1;
    other = visit_others(other, end, rows_.first_row, last, seen, take);
    visit_own(given, seen, take);
    visit_others(other, end, std::numeric_limits<GlobalIndex>::max(), last, seen, take);
  }

 private:
  std::size_t given_row(LocalIndex row) const { return static_cast<std::size_t>(row - own_begin_); }

  /// What has the row where it came from elsewhere; its `row` is changed to the number there.
  const Received* received_of(LocalIndex& row) const {
    if (row < of_.kept_begin_) return &of_.before_;
    if (row < of_.kept_end_) return nullptr;
    row -= of_.kept_end_;
    return &of_.behind_;
  }

  /// -1 where nobody has the column.
  LocalIndex local(GlobalIndex column) const {
    if (column >= begin_ && column < begin_ + row_count_)
      return static_cast<LocalIndex>(column - begin_);
    const LocalIndex place = spmv::halo_place(halo_, column);
    return place == std::ssize(halo_) ? -1 : row_count_ + place;
  }

  /// Takes an entry that may be in the halo.
  template <class Take>
  void take_rare(LocalIndex column, double value, Seen& seen, const Take& take) const {
    seen.is_valid &= column >= 0 && std::abs(value) <= largest;
    if (column < 0) return;
    if (column >= row_count_) seen.uses_halo[static_cast<std::size_t>(column - row_count_)] = 1;
    take(column, value);
  }

  template <class Take>
  void visit_own(std::size_t given, Seen& seen, const Take& take) const {
    const auto first = static_cast<std::size_t>(rows_.own.offsets[given]);
    const auto end = static_cast<std::size_t>(rows_.own.offsets[given + 1]);
    if (first == end) return;
    const Index* const columns = rows_.own.columns.data();
    const double* const values = rows_.own.values.data();
    // Columns ascend, or it is seen.
    const bool all_stay =
        columns[first] + own_begin_ >= 0 && columns[end - 1] + own_begin_ < row_count_;
    const auto own_rows = static_cast<GlobalIndex>(row_count_of(rows_));
    GlobalIndex before = -1;
    bool is_valid = columns[end - 1] < own_rows;
    for (auto k = first; k < end; ++k) {
      is_valid &= columns[k] > before && std::abs(values[k]) <= largest;
      before = columns[k];
      if (all_stay)
        take(static_cast<LocalIndex>(columns[k] + own_begin_), values[k]);
      else
        take_rare(local(rows_.first_row + columns[k]), values[k], seen, take);
    }
    seen.is_valid &= is_valid;
  }

  /// Those whose global column is below `limit`; returns the first other.
  template <class Take>
  Index visit_others(Index k, Index end, GlobalIndex limit, Index& last, Seen& seen,
                     const Take& take) const {
    for (; k < end; ++k) {
      const Index column = rows_.others.columns[static_cast<std::size_t>(k)];
      if (column <= last || column >= std::ssize(places_of_others_)) {
        seen.is_valid = false;
        continue;
      }
      if (rows_.columns_of_others[static_cast<std::size_t>(column)] >= limit) break;
      last = column;
      take_rare(places_of_others_[static_cast<std::size_t>(column)],
                rows_.others.values[static_cast<std::size_t>(k)], seen, take);
    }
    return k;
  }

  const CallerDividedRows& of_;
  const DividedRows<Index>& rows_;
  std::span<const GlobalIndex> halo_;
  GlobalIndex begin_;
  LocalIndex row_count_;
  GlobalIndex own_begin_;  // the row and column of the matrix that the caller's first is
  std::vector<LocalIndex> places_of_others_;
};

template <class Index>
CallerDividedRows<Index>::CallerDividedRows(const comm_thread::Communicator& communicator,
                                            const comm_thread::ComputeTeam& team,
                                            const DividedRows<Index>& rows)
    : CallerMatrix(communicator, team),
      own_count_(rows.own.columns.size()),
      other_count_(rows.others.columns.size()) {
  collective_deal_rows(static_cast<std::int64_t>(row_count_of(rows)));
  comm_thread::collective_attempt(communicator, [&] { check_shape(rows); });
  // Whose columns are wrong if a shape is wrong elsewhere is another question.
  comm_thread::collective_attempt(communicator, [&] { check_columns_of_others(rows); });
  const int rank = communicator.rank();
  const GlobalIndex moved_begin = moved_->begin(rank);
  const GlobalIndex first = std::max(given_->begin(rank), moved_begin);
  const GlobalIndex end = std::max(first, std::min(given_->end(rank), moved_->end(rank)));
  collective_receive(rows);
  const auto from_before = static_cast<LocalIndex>(std::ssize(before_.offsets) - 1);
  kept_begin_ = first < end ? static_cast<LocalIndex>(first - moved_begin) : from_before;
  kept_end_ = kept_begin_ + static_cast<LocalIndex>(end - first);
  matrix_ = std::make_unique<spmv::DistributedMatrix>(
      spmv::DistributedMatrix{.partition = *moved_,
                              .rank = rank,
                              .rows = {},
                              .halo_columns = halo_of(rows),
                              .global_nonzero_count = 0});
  comm_thread::collective_attempt(communicator, [&] {
    spmv::expect_few_columns(rank, moved_->size(rank), std::ssize(matrix_->halo_columns));
  });
  Made made = make(View(*this, rows, matrix_->halo_columns));
  comm_thread::collective_attempt(communicator, [&] {
    if (!made.is_valid) find_fault(rows, 0, row_count_of(rows));
  });
  matrix_->rows = std::move(made.rows);
  spmv::keep_halo(*matrix_, made.uses_halo);  // other values may need what zeros need
  matrix_->global_nonzero_count = communicator.sum(matrix_->rows.nonzero_count());
  const std::int64_t given_count =
      communicator.sum(static_cast<std::int64_t>(own_count_ + other_count_));
  const std::int64_t zeros = given_count - matrix_->global_nonzero_count;
  has_zeros_left_out_ = zeros > 0;
  if (zeros > 0) remark_ = spmv::text_of_zeros(zeros, given_count);
}

template <class Index>
void CallerDividedRows<Index>::check_shape(const DividedRows<Index>& rows) const {
  const GlobalIndex begin = given_->begin(communicator_.rank());
  const GlobalIndex end = given_->end(communicator_.rank());
  if (rows.own.offsets.empty()) fault("found no offsets; expected one more than there are rows");
  if (rows.first_row != begin)
    fault(fmt::format("found first_row {}; expected {}, the rows of the ranks before",
                      rows.first_row, begin));
  if (end - begin > std::numeric_limits<LocalIndex>::max())
    fault(fmt::format("found {} rows; expected at most {}", end - begin,
                      std::numeric_limits<LocalIndex>::max()));
  for (const auto* const block : {&rows.own, &rows.others}) {
    const char* const name = block == &rows.own ? "own" : "others";
    const auto& offsets = block->offsets;
    const std::int64_t last = offsets.empty() ? 0 : offsets.back();
    if (!offsets.empty() && (offsets.size() != rows.own.offsets.size() || offsets.front() != 0 ||
                             !std::ranges::is_sorted(offsets)))
      fault(fmt::format("found other offsets of block {}; expected {} ascending ones from 0", name,
                        rows.own.offsets.size()));
    if (std::ssize(block->columns) != last || std::ssize(block->values) != last)
      fault(
          fmt::format("found {} columns and {} values of block {}; expected {} of each, the last "
                      "offset",
                      block->columns.size(), block->values.size(), name, last));
  }
}

template <class Index>
void CallerDividedRows<Index>::check_columns_of_others(const DividedRows<Index>& rows) const {
  const GlobalIndex begin = given_->begin(communicator_.rank());
  const GlobalIndex end = given_->end(communicator_.rank());
  GlobalIndex before = -1;
  for (const GlobalIndex column : rows.columns_of_others) {
    if (column <= before || column >= given_->row_count() || (column >= begin && column < end))
      fault(
          fmt::format("found {} after {} in columns_of_others; expected ascending columns of "
                      "other ranks, below {}",
                      column, before, given_->row_count()));
    before = column;
  }
}

template <class Index>
void CallerDividedRows<Index>::find_fault(const DividedRows<Index>& rows, std::size_t first,
                                          std::size_t last) const {
  for (const auto* const block : {&rows.own, &rows.others}) {
    const char* const name = block == &rows.own ? "own" : "others";
    const std::int64_t limit =
        block == &rows.own ? std::ssize(rows.own.offsets) - 1 : std::ssize(rows.columns_of_others);
    if (block->offsets.empty()) continue;
    for (std::size_t row = first; row < last; ++row) {
      std::int64_t before = -1;
      for (auto k = static_cast<std::size_t>(block->offsets[row]);
           k < static_cast<std::size_t>(block->offsets[row + 1]); ++k) {
        const std::int64_t column = block->columns[k];
        if (column <= before || column >= limit)
          fault(fmt::format("found {}.columns[{}] = {}; expected 0 to {}, ascending in each row",
                            name, k, column, limit - 1));
        if (!std::isfinite(block->values[k]))
          fault(fmt::format("found {}.values[{}] = {}; expected a finite number", name, k,
                            block->values[k]));
        before = column;
      }
    }
  }
}

template <class Index>
void CallerDividedRows<Index>::check_values(const DividedRows<Index>& rows) const {
  std::vector<char> is_finite(static_cast<std::size_t>(team_.thread_count()), 1);
  team_.run([&](const TeamThread& thread) {
    bool all = true;  // no early end: that would not be vectorized
    for (const auto* const block : {&rows.own, &rows.others}) {
      const auto share =
          comm_thread::share_of(std::ssize(block->values), thread.index, thread.count);
      for (auto k = static_cast<std::size_t>(share.begin); k < static_cast<std::size_t>(share.end);
           ++k)
        all &= std::abs(block->values[k]) <= largest;
    }
    is_finite[static_cast<std::size_t>(thread.index)] = all ? 1 : 0;
  });
  if (std::ranges::find(is_finite, 0) != is_finite.end()) find_fault(rows, 0, row_count_of(rows));
}

/// Appends rows first … last - 1 of this rank's: of each its length and its columns.
template <class Index>
void CallerDividedRows<Index>::append_rows(const DividedRows<Index>& rows, GlobalIndex first,
                                           GlobalIndex last, std::vector<GlobalIndex>& places,
                                           std::vector<double>& values) const {
  find_fault(rows, static_cast<std::size_t>(first - rows.first_row),
             static_cast<std::size_t>(last - rows.first_row));
  for (auto row = first - rows.first_row; row < last - rows.first_row; ++row) {
    const std::size_t at = places.size();
    places.push_back(0);
    visit_row(rows, static_cast<std::size_t>(row), [&](GlobalIndex column, double value) {
      ++places[at];
      places.push_back(column);
      values.push_back(value);
    });
  }
}

template <class Index>
void CallerDividedRows<Index>::collective_receive(const DividedRows<Index>& rows) {
  before_ = {};
  behind_ = {};
  if (!moves_) return;
  const int rank = communicator_.rank();
  comm_thread::Lists<GlobalIndex> places;
  comm_thread::Lists<double> values;
  comm_thread::collective_attempt(communicator_, [&] {
    for (int other = 0; other < moved_->rank_count(); ++other) {
      const GlobalIndex first = std::max(given_->begin(rank), moved_->begin(other));
      const GlobalIndex last = std::min(given_->end(rank), moved_->end(other));
      if (first < last && other != rank)
        append_rows(rows, first, last, places[other], values[other]);
    }
  });
  for (const auto& [source, list] :
       comm_thread::collective_sparse_exchange(communicator_, std::move(places))) {
    Received& received = source < rank ? before_ : behind_;
    for (std::size_t at = 0; at < list.size();) {
      const auto length = static_cast<std::size_t>(list[at++]);
      const auto* const columns = list.data() + at;
      received.columns.insert(received.columns.end(), columns, columns + length);
      received.offsets.push_back(std::ssize(received.columns));
      at += length;
    }
  }
  for (const auto& [source, list] :
       comm_thread::collective_sparse_exchange(communicator_, std::move(values))) {
    Received& received = source < rank ? before_ : behind_;
    received.values.insert(received.values.end(), list.begin(), list.end());
  }
}

/// Columns of other ranks that the rows may need after the move.
template <class Index>
std::vector<GlobalIndex> CallerDividedRows<Index>::halo_of(const DividedRows<Index>& rows) const {
  const int rank = communicator_.rank();
  std::vector<GlobalIndex> halo;
  const auto add = [&](GlobalIndex column) {
    if (column < moved_->begin(rank) || column >= moved_->end(rank)) halo.push_back(column);
  };
  for (const Index column : rows.columns_of_others) add(column);
  for (const Received* const received : {&before_, &behind_})
    for (const GlobalIndex column : received->columns) add(column);
  for (auto row = given_->begin(rank); row < std::min(given_->end(rank), moved_->begin(rank));
       ++row)
    halo.push_back(row);
  for (auto row = std::max(given_->begin(rank), moved_->end(rank)); row < given_->end(rank); ++row)
    halo.push_back(row);
  spmv::sort_columns(halo);
  return halo;
}

/// With room for all entries as given.
template <class Index>
spmv::CrsMatrix CallerDividedRows<Index>::make_room(const View& view) const {
  spmv::CrsMatrix rows;
  rows.row_count = view.row_count();
  rows.row_offsets =
      perfmodel::HugePageBuffer<std::int64_t>(static_cast<std::size_t>(rows.row_count) + 1);
  for (LocalIndex row = 0; row < rows.row_count; ++row)
    rows.row_offsets[static_cast<std::size_t>(row) + 1] =
        rows.row_offsets[static_cast<std::size_t>(row)] + view.length(row);
  const auto entry_count = static_cast<std::size_t>(rows.nonzero_count());
  rows.columns = perfmodel::HugePageBuffer<LocalIndex>(entry_count);
  rows.values = perfmodel::HugePageBuffer<double>(entry_count);
  return rows;
}

template <class Index>
typename CallerDividedRows<Index>::Made CallerDividedRows<Index>::make(const View& view) const {
  Made made;
  made.rows = make_room(view);
  spmv::CrsMatrix& rows = made.rows;
  const auto first_rows = spmv::cut_rows_for_threads(
      rows.row_offsets.span(), spmv::RowPartition::block_size(moved_->row_count()),
      team_.thread_count());
  spmv::FilledShares shares(rows, {first_rows.begin(), first_rows.end()});
  std::vector<Seen> seen(static_cast<std::size_t>(team_.thread_count()));
  team_.run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    Seen mine{.uses_halo = std::vector<char>(view.halo_count())};
    LocalIndex* const columns = rows.columns.data();
    double* const values = rows.values.data();
    std::int64_t filled = shares.begin(index);
    for (LocalIndex row = first_rows[index]; row < first_rows[index + 1]; ++row) {
      rows.row_offsets[static_cast<std::size_t>(row)] = filled;
      view.visit(row, mine, [&](LocalIndex column, double value) {
        columns[filled] = column;
        values[filled] = value;
        filled += value != 0 || column == row ? 1 : 0;
      });
    }
    shares.set_end(index, filled);
    seen[index] = std::move(mine);
  });
  shares.join();
  made.uses_halo.resize(view.halo_count());
  for (const Seen& each : seen)
    for (std::size_t place = 0; place < view.halo_count(); ++place)
      made.uses_halo[place] |= each.uses_halo[place];
  made.is_valid = std::ranges::all_of(seen, &Seen::is_valid);
  return made;
}

/// Returns whether all entries had places.
template <class Index>
bool CallerDividedRows<Index>::update_in_place(const View& view, spmv::SplitMatrix& matrix) const {
  const spmv::CrsMatrix& rows = matrix.matrix().rows;
  std::vector<char> fits(static_cast<std::size_t>(team_.thread_count()), 1);
  matrix.update_values(team_, [&](const TeamThread& thread, LocalIndex begin, LocalIndex end,
                                  std::span<double> values) {
    Seen seen{.uses_halo = std::vector<char>(view.halo_count())};
    bool all_fit = true;
    for (LocalIndex row = begin; row < end; ++row) {
      auto k = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(row)]);
      const auto last =
          static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(row) + 1]);
      view.visit(row, seen, [&](LocalIndex column, double value) {
        const bool is_there = k < last && rows.columns[k] == column;
        if (is_there) values[k++] = value;
        const bool is_left_out = value == 0 && column != row && has_zeros_left_out_;
        all_fit &= is_there != is_left_out;
      });
      all_fit &= k == last;
    }
    fits[static_cast<std::size_t>(thread.index)] = all_fit && seen.is_valid ? 1 : 0;
  });
  return std::ranges::find(fits, 0) == fits.end();
}

template <class Index>
bool CallerDividedRows<Index>::collective_update(const DividedRows<Index>& rows,
                                                 spmv::SplitMatrix& matrix) {
  comm_thread::collective_attempt(communicator_, [&] {
    if (rows.own.columns.size() != own_count_ || rows.others.columns.size() != other_count_)
      fault(fmt::format(
          "found {} and {} entries in the two blocks; expected {} and {} as in the "
          "rows that the matrix was made of",
          rows.own.columns.size(), rows.others.columns.size(), own_count_, other_count_));
    check_shape(rows);
    check_columns_of_others(rows);
    check_values(rows);
  });
  collective_receive(rows);
  const View view(*this, rows, matrix.matrix().halo_columns);
  const bool all_fit = update_in_place(view, matrix);
  if (communicator_.min(std::int64_t{all_fit}) == 1) return false;
  Made made = make(view);
  comm_thread::collective_attempt(communicator_, [&] {
    if (made.is_valid) return;
    find_fault(rows, 0, row_count_of(rows));
    fault("found columns that the rows that the matrix was made of did not have");
  });
  const std::int64_t count = communicator_.sum(made.rows.nonzero_count());
  const bool has_changed = matrix.replace_rows(team_, std::move(made.rows), count);
  return communicator_.max(std::int64_t{has_changed}) == 1;
}

template class CallerDividedRows<std::int32_t>;
template class CallerDividedRows<std::int64_t>;

}  // namespace weft::library
