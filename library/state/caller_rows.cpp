#include "library/state/caller_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "spmv/entries/explicit_zeros.h"
#include "spmv/entries/mirrored_matrix.h"
#include "spmv/rows/halo_columns.h"
#include "spmv/rows/thread_rows.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using spmv::DistributedMatrix;
using spmv::GlobalIndex;
using spmv::LocalIndex;
using spmv::RowPartition;

/// Copies entries from `first` on of what `parts` are together.
void copy_entries(std::span<const std::span<const double>> parts, std::size_t first,
                  std::span<double> out) {
  for (const auto& part : parts) {
    if (out.empty()) return;
    if (first >= part.size()) {
      first -= part.size();
      continue;
    }
    const std::size_t count = std::min(out.size(), part.size() - first);
    std::ranges::copy(part.subspan(first, count), out.begin());
    out = out.subspan(count);
    first = 0;
  }
}

/// The columns of the entries for which `is_wanted` holds, once each and in order.
/// `for_own_entries` visits the entries of a thread.
template <class ForOwnEntries, class IsWanted>
std::vector<GlobalIndex> columns_where(const comm_thread::ComputeTeam& team,
                                       const ForOwnEntries& for_own_entries,
                                       const IsWanted& is_wanted) {
  std::vector<std::vector<GlobalIndex>> found(static_cast<std::size_t>(team.thread_count()));
  team.run([&](const TeamThread& thread) {
    auto& mine = found[static_cast<std::size_t>(thread.index)];
    for_own_entries(thread, [&](std::size_t, GlobalIndex column, double /*value*/) {
      if (is_wanted(column)) mine.push_back(column);
    });
    spmv::sort_columns(mine);
  });
  std::vector<GlobalIndex> all;
  for (const auto& mine : found) all.insert(all.end(), mine.begin(), mine.end());
  spmv::sort_columns(all);
  return all;
}

/// Where each row begins among the entries of all pieces.
template <class Pieces>
perfmodel::HugePageBuffer<std::int64_t> offsets_of(const Pieces& pieces, LocalIndex row_count) {
  perfmodel::HugePageBuffer<std::int64_t> offsets(static_cast<std::size_t>(row_count) + 1);
  std::size_t row = 0;
  std::int64_t before = 0;  // entries of the pieces before
  for (const auto& piece : pieces) {
    for (const std::int64_t offset : piece.offsets.subspan(1))
      offsets[++row] = before + offset - piece.offsets.front();
    before += std::ssize(piece.columns);
  }
  return offsets;
}

}  // namespace

CallerRows::CallerRows(const comm_thread::Communicator& communicator,
                       const comm_thread::ComputeTeam& team, const Rows& rows, Values kept,
                       spmv::Triangle triangle)
    : CallerMatrix(communicator, team, std::max<std::int64_t>(std::ssize(rows.offsets) - 1, 0)),
      triangle_(triangle),
      given_entry_count_(rows.columns.size()) {
  comm_thread::collective_attempt(communicator, [&] { check_shape(rows); });
  // Whose columns are wrong if a shape is wrong elsewhere is another question.
  bool is_in_order = true;
  comm_thread::collective_attempt(communicator, [&] {
    is_in_order = check_columns(rows);
    check_values(rows.values);
  });
  is_in_order = communicator.min(std::int64_t{is_in_order}) == 1;
  is_in_place_ = !moves() && is_in_order;
  matrix_ = std::make_unique<DistributedMatrix>(is_in_order ? collective_use_order(rows, kept)
                                                            : collective_assemble(rows));
  collective_settle();
}

/// Keeps the rows as given where the matrix has other entries.
void CallerRows::collective_settle() {
  const std::int64_t zeros = spmv::collective_count_zeros(communicator_, team_, *matrix_);
  collective_look(*matrix_);
  if (zeros > 0) remark_ = spmv::text_of_zeros(zeros, matrix_->global_nonzero_count);
  if (zeros == 0 && triangle_ != spmv::Triangle::mirrored) return;
  as_given_ = std::move(matrix_);
  matrix_ = std::make_unique<DistributedMatrix>(collective_settled());
}

void CallerRows::collective_look(const DistributedMatrix& matrix) {
  const bool is_whole = sides_.has_below && sides_.has_above;
  if (triangle_ == spmv::Triangle::as_is || (triangle_ == spmv::Triangle::unsaid && is_whole))
    return;
  sides_ = spmv::collective_find_sides(communicator_, team_, matrix);
}

std::string CallerRows::half() const {
  return triangle_ == spmv::Triangle::unsaid && sides_.is_one_sided() ? sides_.text() : "";
}

DistributedMatrix CallerRows::collective_settled() const {
  if (triangle_ == spmv::Triangle::mirrored)
    return spmv::collective_mirror(communicator_, team_, *as_given_, sides_);
  DistributedMatrix settled{.partition = as_given_->partition,
                            .rank = as_given_->rank,
                            .rows = spmv::copy_rows(team_, as_given_->rows),
                            .halo_columns = as_given_->halo_columns,
                            .global_nonzero_count = 0};
  spmv::collective_drop_zeros(communicator_, team_, settled);
  return settled;
}

void CallerRows::check_shape(const Rows& rows) const {
  const auto& offsets = rows.offsets;
  check_extent(rows.first_row, offsets.size());
  if (offsets.front() != 0) fault("found offsets[0] = {}; expected 0", offsets[0]);
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] < offsets[i - 1])
      fault("found offsets[{}] = {} after {}; expected ascending offsets", i, offsets[i],
            offsets[i - 1]);
  if (offsets.back() != std::ssize(rows.columns) || offsets.back() != std::ssize(rows.values))
    fault("found {} columns and {} values; expected {} of each, the last offset",
          rows.columns.size(), rows.values.size(), offsets.back());
}

bool CallerRows::check_columns(const Rows& rows) const {
  struct Found {
    bool is_below_end = true;
    bool is_in_order = true;
  };
  std::vector<Found> found(static_cast<std::size_t>(team_.thread_count()));
  team_.run([&](const TeamThread& thread) {
    const auto share =
        comm_thread::share_of(std::ssize(rows.offsets) - 1, thread.index, thread.count);
    Found all;
    for (auto row = static_cast<std::size_t>(share.begin);
         row < static_cast<std::size_t>(share.end); ++row) {
      GlobalIndex last = -1;
      for (auto k = static_cast<std::size_t>(rows.offsets[row]);
           k < static_cast<std::size_t>(rows.offsets[row + 1]); ++k) {
        const GlobalIndex column = rows.columns[k];
        all.is_in_order &= column > last;
        all.is_below_end &= column < given().row_count() && column >= 0;
        last = column;
      }
    }
    found[static_cast<std::size_t>(thread.index)] = all;
  });
  if (!std::ranges::all_of(found, &Found::is_below_end))
    for (std::size_t k = 0; k < rows.columns.size(); ++k)
      if (rows.columns[k] < 0 || rows.columns[k] >= given().row_count())
        fault("found columns[{}] = {}; expected 0 to {}", k, rows.columns[k],
              given().row_count() - 1);
  return std::ranges::all_of(found, &Found::is_in_order);
}

void CallerRows::check_values(std::span<const double> values) const {
  if (are_finite(values)) return;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]))
      fault("found values[{}] = {}; expected a finite number", k, values[k]);
}

DistributedMatrix CallerRows::collective_use_order(const Rows& rows, Values kept) {
  const auto received = collective_receive(rows);
  const std::vector<Piece> pieces = pieces_of(rows, received);
  const bool borrows = kept == Values::borrowed && !moves();
  if (borrows) borrowed_ = rows.values.data();
  DistributedMatrix matrix = rows_in_order(pieces, borrows);
  comm_thread::collective_attempt(communicator_, [&] {
    spmv::expect_few_columns(communicator_.rank(), matrix.rows.row_count,
                             std::ssize(matrix.halo_columns));
  });
  matrix.global_nonzero_count = communicator_.sum(matrix.rows.nonzero_count());
  return matrix;
}

/// Copies each entry once, to where it is among those of all pieces.
DistributedMatrix CallerRows::rows_in_order(std::span<const Piece> pieces, bool borrows) const {
  DistributedMatrix matrix = without_rows();
  spmv::CrsMatrix& made = matrix.rows;
  const GlobalIndex begin = matrix.partition.begin(matrix.rank);
  const GlobalIndex end = matrix.partition.end(matrix.rank);
  made.row_count = static_cast<LocalIndex>(end - begin);
  made.row_offsets = offsets_of(pieces, made.row_count);
  const auto thread_rows = spmv::cut_rows_for_threads(
      made.row_offsets.span(), RowPartition::block_size(matrix.partition.row_count()),
      team_.thread_count());
  const auto for_own_entries = [&](const TeamThread& thread, const auto& visit) {
    const auto index = static_cast<std::size_t>(thread.index);
    const auto first = made.row_offsets[static_cast<std::size_t>(thread_rows[index])];
    const auto last = made.row_offsets[static_cast<std::size_t>(thread_rows[index + 1])];
    std::int64_t piece_begin = 0;
    for (const Piece& piece : pieces) {
      const std::int64_t piece_end = piece_begin + std::ssize(piece.columns);
      for (auto k = std::max(first, piece_begin); k < std::min(last, piece_end); ++k) {
        const auto entry = static_cast<std::size_t>(k - piece_begin);
        visit(static_cast<std::size_t>(k), piece.columns[entry], piece.values[entry]);
      }
      piece_begin = piece_end;
    }
  };
  if (communicator_.size() > 1)
    matrix.halo_columns = columns_where(team_, for_own_entries, [&](GlobalIndex column) {
      return column < begin || column >= end;
    });
  const auto entry_count = static_cast<std::size_t>(made.nonzero_count());
  made.columns = perfmodel::HugePageBuffer<LocalIndex>(entry_count);
  // Only `collective_update` writes to borrowed values, of which the caller knows.
  made.values =
      borrows
          ? perfmodel::HugePageBuffer<double>::borrow({const_cast<double*>(borrowed_), entry_count})
          : perfmodel::HugePageBuffer<double>(entry_count);
  const auto columns = made.columns.span();
  const auto values = made.values.span();
  team_.run([&](const TeamThread& thread) {
    if (matrix.halo_columns.empty())
      for_own_entries(thread, [&](std::size_t k, GlobalIndex column, double /*value*/) {
        columns[k] = static_cast<LocalIndex>(column - begin);
      });
    else
      for_own_entries(thread, [&](std::size_t k, GlobalIndex column, double /*value*/) {
        columns[k] = local_column(matrix, column);
      });
    if (!borrows)
      for_own_entries(thread, [&](std::size_t k, GlobalIndex, double value) { values[k] = value; });
  });
  return matrix;
}

bool CallerRows::collective_update(std::span<const double> values, spmv::SplitMatrix& matrix) {
  comm_thread::collective_attempt(communicator_, [&] {
    if (values.size() != given_entry_count_)
      throw comm_thread::InputError(
          fmt::format("values of rank {}: found {}; expected {} as in the rows that the matrix was "
                      "made of",
                      communicator_.rank(), values.size(), given_entry_count_));
    check_values(values);
  });
  if (!as_given_) {
    collective_write(values, matrix.matrix().rows.row_offsets.span(),
                     [&](const WriteValues& write) { matrix.update_values(team_, write); });
    collective_look(matrix.matrix());
    return false;
  }
  spmv::CrsMatrix& given = as_given_->rows;
  collective_write(values, given.row_offsets.span(), [&](const WriteValues& write) {
    team_.run([&](const TeamThread& thread) {
      const auto share = comm_thread::share_of(given.row_count, thread.index, thread.count);
      write(thread, static_cast<LocalIndex>(share.begin), static_cast<LocalIndex>(share.end),
            given.values.span());
    });
  });
  collective_look(*as_given_);
  DistributedMatrix settled = collective_settled();
  const bool has_changed =
      matrix.replace_rows(team_, std::move(settled.rows), settled.global_nonzero_count);
  return communicator_.max(std::int64_t{has_changed}) == 1;
}

void CallerRows::collective_write(std::span<const double> values,
                                  std::span<const std::int64_t> offsets,
                                  const std::function<void(const WriteValues& write)>& run) {
  if (is_in_place_)
    return run([&](const TeamThread&, LocalIndex begin, LocalIndex end, std::span<double> stored) {
      const auto first = offsets[static_cast<std::size_t>(begin)];
      const auto last = offsets[static_cast<std::size_t>(end)];
      if (stored.data() != values.data())
        std::copy(values.begin() + first, values.begin() + last, stored.begin() + first);
    });

  const auto received = transfer_.collective_exchange(values_that_leave(values));
  const std::array<std::span<const double>, 3> parts{
      received.before, values.subspan(kept_entries_.begin, kept_entries_.end - kept_entries_.begin),
      received.behind};
  if (entry_begin_.empty())
    return run([&](const TeamThread&, LocalIndex begin, LocalIndex end, std::span<double> stored) {
      const auto first = static_cast<std::size_t>(offsets[static_cast<std::size_t>(begin)]);
      const auto last = static_cast<std::size_t>(offsets[static_cast<std::size_t>(end)]);
      copy_entries(parts, first, stored.subspan(first, last - first));
    });

  std::vector<double> all(places_.size());
  copy_entries(parts, 0, all);
  run([&](const TeamThread&, LocalIndex begin, LocalIndex end, std::span<double> stored) {
    std::vector<std::pair<std::uint32_t, double>> entries;
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      entries.clear();
      for (auto k = static_cast<std::size_t>(entry_begin_[row]);
           k < static_cast<std::size_t>(entry_begin_[row + 1]); ++k)
        entries.emplace_back(places_[k], all[k]);
      // Duplicates are added in ascending order of value, as MatrixAssembly does.
      if (std::ssize(entries) != offsets[row + 1] - offsets[row]) std::ranges::sort(entries);
      double* const values_of_row = stored.data() + offsets[row];
      std::fill_n(values_of_row, offsets[row + 1] - offsets[row], 0.0);
      for (const auto& [place, value] : entries) values_of_row[place] += value;
    }
  });
}

}  // namespace weft::library
