#include "library/state/caller_divided_rows.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "spmv/entries/explicit_zeros.h"
#include "spmv/rows/halo_columns.h"
#include "spmv/rows/thread_rows.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

template <class Index>
std::size_t row_count_of(const DividedRows<Index>& rows) {
  return rows.own.offsets.empty() ? 0 : rows.own.offsets.size() - 1;
}

/// Without overflow where a column is wrong.
template <class Index>
LocalIndex shifted(Index column, LocalIndex shift) {
  return static_cast<LocalIndex>(static_cast<std::uint32_t>(column) +
                                 static_cast<std::uint32_t>(shift));
}

bool has_zero(std::span<const double> values) {
  bool found = false;  // no early end: that would not be vectorized
  for (const double value : values) found |= value == 0;
  return found;
}

/// Stores the entries of a row from `filled` on, without zeros off the diagonal. Where the last row
/// had none, a row is looked through for zeros first, and then copied at once.
struct StoreEntries {
  LocalIndex* columns = nullptr;
  double* values = nullptr;
  std::int64_t filled = 0;
  LocalIndex row = 0;
  bool expects_zeros = false;

  void entry(LocalIndex column, double value) {
    columns[filled] = column;
    values[filled] = value;
    filled += value != 0 || column == row ? 1 : 0;
  }
  template <class Index>
  void run(std::span<const Index> from, LocalIndex shift, std::span<const double> given) {
    const std::int64_t begin = filled;
    if (expects_zeros || has_zero(given)) {
      for (std::size_t k = 0; k < from.size(); ++k) entry(shifted(from[k], shift), given[k]);
      expects_zeros = filled - begin < std::ssize(from);
      return;
    }
    for (std::size_t k = 0; k < from.size(); ++k)
      columns[begin + static_cast<std::int64_t>(k)] = shifted(from[k], shift);
    std::ranges::copy(given, values + begin);
    filled += std::ssize(from);
  }
};

/// Writes the entries of a row to where those before were.
struct ReplaceEntries {
  const LocalIndex* columns = nullptr;
  double* values = nullptr;
  bool leaves_zeros_out = false;  // off the diagonal
  std::int64_t next = 0;
  std::int64_t end = 0;  // of the row
  LocalIndex row = 0;
  bool all_fit = true;

  void entry(LocalIndex column, double value) {
    const bool is_there = next < end && columns[next] == column;
    if (is_there) values[next++] = value;
    const bool is_left_out = value == 0 && column != row && leaves_zeros_out;
    all_fit &= is_there != is_left_out;
  }
  template <class Index>
  void run(std::span<const Index> from, LocalIndex shift, std::span<const double> given) {
    for (std::size_t k = 0; k < from.size(); ++k) entry(shifted(from[k], shift), given[k]);
  }
};

/// With room for all entries as given.
template <class Index>
spmv::CrsMatrix make_room(const DividedRowsView<Index>& view) {
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

}  // namespace

template <class Index>
CallerDividedRows<Index>::CallerDividedRows(const comm_thread::Communicator& communicator,
                                            const comm_thread::ComputeTeam& team,
                                            const DividedRows<Index>& rows)
    : CallerMatrix(communicator, team, static_cast<std::int64_t>(row_count_of(rows))),
      own_count_(rows.own.columns.size()),
      other_count_(rows.others.columns.size()) {
  comm_thread::collective_attempt(communicator, [&] {
    check_extent(rows.first_row, rows.own.offsets.size());
    check_of(rows).check_shape();
  });
  // Whose columns are wrong if a shape is wrong elsewhere is another question.
  comm_thread::collective_attempt(communicator, [&] { check_of(rows).check_columns_of_others(); });
  const auto received = collective_receive(rows);
  matrix_ = std::make_unique<spmv::DistributedMatrix>(without_rows());
  matrix_->halo_columns = halo_of(rows, received);
  comm_thread::collective_attempt(communicator, [&] {
    spmv::expect_few_columns(matrix_->rank, matrix_->partition.size(matrix_->rank),
                             std::ssize(matrix_->halo_columns));
  });
  Made made = make(View(rows, transfer_, received, *matrix_));
  comm_thread::collective_attempt(communicator, [&] {
    if (!made.is_valid) check_of(rows).check_entries(0, row_count_of(rows));
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
void CallerDividedRows<Index>::check_values(const DividedRows<Index>& rows) const {
  if (!are_finite(rows.own.values) || !are_finite(rows.others.values))
    check_of(rows).check_entries(0, row_count_of(rows));
}

/// Sends rows of this rank that move, and takes those that come.
template <class Index>
FromBothSides<ReceivedRows> CallerDividedRows<Index>::collective_receive(
    const DividedRows<Index>& rows) const {
  ParcelsOfRows parcels;
  comm_thread::collective_attempt(communicator_, [&] {
    const DividedRowWalk<Index> walk(rows);
    transfer_.for_each_leaving([&](int other, const RowTransfer::Range& leaving) {
      const auto first = static_cast<std::size_t>(leaving.begin - rows.first_row);
      const auto last = static_cast<std::size_t>(leaving.end - rows.first_row);
      check_of(rows).check_entries(first, last);
      auto& places = parcels.places[other];
      auto& values = parcels.values[other];
      const auto append = [&](const auto& run, const auto& global_column) {
        for (const Index column : run.columns) places.push_back(global_column(column));
        values.insert(values.end(), run.values.begin(), run.values.end());
      };
      for (std::size_t row = first; row < last; ++row) {
        places.push_back(walk.length(row));
        walk.visit(
            row,
            [&](const auto& others) {
              append(others, [&](Index column) {
                return GlobalIndex{rows.columns_of_others[static_cast<std::size_t>(column)]};
              });
            },
            [&](const auto& own) {
              append(own, [&](Index column) { return rows.first_row + column; });
            });
      }
    });
  });
  return transfer_.collective_exchange(std::move(parcels));
}

/// Columns of other ranks that the rows may need after the move.
template <class Index>
std::vector<GlobalIndex> CallerDividedRows<Index>::halo_of(
    const DividedRows<Index>& rows, const FromBothSides<ReceivedRows>& received) const {
  const spmv::RowPartition& moved = transfer_.moved();
  const int rank = transfer_.rank();
  std::vector<GlobalIndex> of_moved;  // of rows, or rows, that move: few
  const auto is_of_others = [&](GlobalIndex column) {
    return column < moved.begin(rank) || column >= moved.end(rank);
  };
  for (const ReceivedRows* const side : {&received.before, &received.behind})
    std::ranges::copy_if(side->columns, std::back_inserter(of_moved), is_of_others);
  transfer_.for_each_leaving([&](int, const RowTransfer::Range& leaving) {
    for (GlobalIndex row = leaving.begin; row < leaving.end; ++row) of_moved.push_back(row);
  });
  spmv::sort_columns(of_moved);
  std::vector<GlobalIndex> given;
  std::ranges::copy_if(rows.columns_of_others, std::back_inserter(given), is_of_others);
  std::vector<GlobalIndex> halo;
  halo.reserve(given.size() + of_moved.size());
  std::ranges::set_union(given, of_moved, std::back_inserter(halo));
  return halo;
}

template <class Index>
typename CallerDividedRows<Index>::Made CallerDividedRows<Index>::make(const View& view) const {
  Made made;
  made.rows = make_room(view);
  spmv::CrsMatrix& rows = made.rows;
  const auto first_rows = spmv::cut_rows_for_threads(
      rows.row_offsets.span(), spmv::RowPartition::block_size(transfer_.moved().row_count()),
      team_.thread_count());
  spmv::FilledShares shares(rows, {first_rows.begin(), first_rows.end()});
  std::vector<typename View::Seen> seen(static_cast<std::size_t>(team_.thread_count()));
  team_.run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    auto mine = view.nothing_seen();
    StoreEntries store{rows.columns.data(), rows.values.data(), shares.begin(index)};
    for (store.row = first_rows[index]; store.row < first_rows[index + 1]; ++store.row) {
      rows.row_offsets[static_cast<std::size_t>(store.row)] = store.filled;
      view.visit(store.row, mine, store);
    }
    shares.set_end(index, store.filled);
    seen[index] = std::move(mine);
  });
  shares.join();
  made.uses_halo.resize(seen.front().uses_halo.size());
  for (const auto& each : seen) {
    for (std::size_t place = 0; place < made.uses_halo.size(); ++place)
      made.uses_halo[place] |= each.uses_halo[place];
    made.is_valid = made.is_valid && each.is_valid;
  }
  return made;
}

/// Returns whether all entries had places.
template <class Index>
bool CallerDividedRows<Index>::update_in_place(const View& view, spmv::SplitMatrix& matrix) const {
  const spmv::CrsMatrix& rows = matrix.matrix().rows;
  std::vector<char> fits(static_cast<std::size_t>(team_.thread_count()), 1);
  matrix.update_values(team_, [&](const TeamThread& thread, LocalIndex begin, LocalIndex end,
                                  std::span<double> values) {
    auto seen = view.nothing_seen();
    ReplaceEntries replace{rows.columns.data(), values.data(), has_zeros_left_out_};
    for (replace.row = begin; replace.row < end; ++replace.row) {
      const auto row = static_cast<std::size_t>(replace.row);
      replace.next = rows.row_offsets[row];
      replace.end = rows.row_offsets[row + 1];
      view.visit(replace.row, seen, replace);
      replace.all_fit &= replace.next == replace.end;
    }
    fits[static_cast<std::size_t>(thread.index)] = replace.all_fit && seen.is_valid ? 1 : 0;
  });
  return std::ranges::find(fits, 0) == fits.end();
}

template <class Index>
bool CallerDividedRows<Index>::collective_update(const DividedRows<Index>& rows,
                                                 spmv::SplitMatrix& matrix) {
  comm_thread::collective_attempt(communicator_, [&] {
    if (rows.own.columns.size() != own_count_ || rows.others.columns.size() != other_count_)
      fault(
          "found {} and {} entries in the two blocks; expected {} and {} as in the "
          "rows that the matrix was made of",
          rows.own.columns.size(), rows.others.columns.size(), own_count_, other_count_);
    check_extent(rows.first_row, rows.own.offsets.size());
    check_of(rows).check_shape();
    check_of(rows).check_columns_of_others();
    check_values(rows);
  });
  const auto received = collective_receive(rows);
  const View view(rows, transfer_, received, matrix.matrix());
  const bool all_fit = update_in_place(view, matrix);
  if (communicator_.min(std::int64_t{all_fit}) == 1) return false;
  Made made = make(view);
  comm_thread::collective_attempt(communicator_, [&] {
    if (made.is_valid) return;
    check_of(rows).check_entries(0, row_count_of(rows));
    fault("found columns that the rows that the matrix was made of did not have");
  });
  const std::int64_t count = communicator_.sum(made.rows.nonzero_count());
  const bool has_changed = matrix.replace_rows(team_, std::move(made.rows), count);
  return communicator_.max(std::int64_t{has_changed}) == 1;
}

template class CallerDividedRows<std::int32_t>;
template class CallerDividedRows<std::int64_t>;

}  // namespace weft::library
