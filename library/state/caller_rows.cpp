#include "library/state/caller_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/matrix/assembly.h"
#include "spmv/rows/thread_rows.h"

namespace weft::library {
namespace {

using comm_thread::Bytes;
using comm_thread::InputError;
using comm_thread::TeamThread;
using spmv::DistributedMatrix;
using spmv::GlobalIndex;
using spmv::LocalIndex;
using spmv::RowPartition;

/// The partition that cuts nearest to `given` and between row blocks only.
RowPartition aligned(const RowPartition& given) {
  const GlobalIndex block = RowPartition::block_size(given.row_count());
  const auto nearest = [&](GlobalIndex row) {
    return row == given.row_count()
               ? row
               : std::min((row + block / 2) / block * block, given.row_count());
  };
  std::vector<GlobalIndex> sizes;
  for (int rank = 0; rank < given.rank_count(); ++rank)
    sizes.push_back(nearest(given.end(rank)) - nearest(given.begin(rank)));
  return RowPartition::by_sizes(sizes);
}

std::vector<GlobalIndex> collective_sizes(const comm_thread::Communicator& communicator,
                                          std::int64_t mine) {
  std::vector<GlobalIndex> sizes;
  for (const auto& list : communicator.all_gather(std::span(&mine, 1)))
    sizes.push_back(list.front());
  return sizes;
}

/// Appends `count` values to a message.
template <class Value>
void append(Bytes& message, const Value* values, std::size_t count) {
  const auto* const begin = reinterpret_cast<const std::byte*>(values);
  message.insert(message.end(), begin, begin + count * sizeof(Value));
}

/// Takes `count` values from `message`, from `begin` on, which it advances.
template <class Value>
std::vector<Value> take(const Bytes& message, std::size_t& begin, std::size_t count) {
  std::vector<Value> values(count);
  if (count > 0) std::memcpy(values.data(), message.data() + begin, count * sizeof(Value));
  begin += count * sizeof(Value);
  return values;
}

std::optional<LocalIndex> local_column(const DistributedMatrix& matrix, GlobalIndex column) {
  const GlobalIndex first = matrix.first_row();
  if (column >= first && column < first + matrix.rows.row_count)
    return static_cast<LocalIndex>(column - first);
  const auto found = std::ranges::lower_bound(matrix.halo_columns, column);
  if (found == matrix.halo_columns.end() || *found != column) return std::nullopt;
  return matrix.rows.row_count + static_cast<LocalIndex>(found - matrix.halo_columns.begin());
}

/// True if the `columns` of a row, as given, are those of row `row` of `matrix`, in that order.
bool is_row(const DistributedMatrix& matrix, std::size_t row,
            std::span<const GlobalIndex> columns) {
  const auto begin = static_cast<std::size_t>(matrix.rows.row_offsets[row]);
  const auto end = static_cast<std::size_t>(matrix.rows.row_offsets[row + 1]);
  if (end - begin != columns.size()) return false;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (matrix.global_column(matrix.rows.columns[begin + i]) != columns[i]) return false;
  return true;
}

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

}  // namespace

CallerRows::CallerRows(const comm_thread::Communicator& communicator,
                       const comm_thread::ComputeTeam& team, const Rows& rows, Values kept)
    : communicator_(communicator), team_(team), given_entry_count_(rows.columns.size()) {
  const std::int64_t row_count = std::max<std::int64_t>(std::ssize(rows.offsets) - 1, 0);
  given_ = std::make_unique<RowPartition>(
      RowPartition::by_sizes(collective_sizes(communicator, row_count)));
  comm_thread::collective_attempt(communicator,
                                  [&] { check_shape(rows, given_->begin(communicator.rank())); });
  // Whose columns are wrong if a shape is wrong elsewhere is another question.
  comm_thread::collective_attempt(communicator, [&] {
    check_columns(rows);
    check_values(rows.values);
  });
  moved_ = std::make_unique<RowPartition>(aligned(*given_));
  for (int rank = 0; rank < given_->rank_count(); ++rank)
    moves_ = moves_ || given_->begin(rank) != moved_->begin(rank);
  is_in_place_ = !moves_ && communicator.min(std::int64_t{is_in_order(rows)}) == 1;
  matrix_ = std::make_unique<DistributedMatrix>(is_in_place_ ? use_in_place(rows, kept)
                                                             : collective_assemble(rows));
  if (is_in_place_) matrix_->global_nonzero_count = communicator.sum(matrix_->rows.nonzero_count());
}

void CallerRows::check_shape(const Rows& rows, std::int64_t rows_before) const {
  const auto fault = [&](const std::string& text) {
    throw InputError(fmt::format("rows of rank {}: {}", communicator_.rank(), text));
  };
  const auto& offsets = rows.offsets;
  if (offsets.empty()) fault("found no offsets; expected one more than there are rows");
  if (rows.first_row != rows_before)
    fault(fmt::format("found first_row {}; expected {}, the rows of the ranks before",
                      rows.first_row, rows_before));
  if (offsets.front() != 0) fault(fmt::format("found offsets[0] = {}; expected 0", offsets[0]));
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] < offsets[i - 1])
      fault(fmt::format("found offsets[{}] = {} after {}; expected ascending offsets", i,
                        offsets[i], offsets[i - 1]));
  if (offsets.back() != std::ssize(rows.columns) || offsets.back() != std::ssize(rows.values))
    fault(fmt::format("found {} columns and {} values; expected {} of each, the last offset",
                      rows.columns.size(), rows.values.size(), offsets.back()));
  constexpr std::int64_t most = std::numeric_limits<LocalIndex>::max();
  if (std::ssize(offsets) - 1 > most)
    fault(fmt::format("found {} rows; expected at most {}", offsets.size() - 1, most));
}

void CallerRows::check_columns(const Rows& rows) const {
  for (std::size_t k = 0; k < rows.columns.size(); ++k)
    if (rows.columns[k] < 0 || rows.columns[k] >= given_->row_count())
      throw InputError(fmt::format("rows of rank {}: found columns[{}] = {}; expected 0 to {}",
                                   communicator_.rank(), k, rows.columns[k],
                                   given_->row_count() - 1));
}

void CallerRows::check_values(std::span<const double> values) const {
  std::vector<char> is_finite(static_cast<std::size_t>(team_.thread_count()), 1);
  team_.run([&](const TeamThread& thread) {
    const auto share = comm_thread::share_of(std::ssize(values), thread.index, thread.count);
    bool all = true;  // no early end: that would not be vectorized
    for (auto k = static_cast<std::size_t>(share.begin); k < static_cast<std::size_t>(share.end);
         ++k)
      all &= std::abs(values[k]) <= std::numeric_limits<double>::max();
    is_finite[static_cast<std::size_t>(thread.index)] = all ? 1 : 0;
  });
  if (std::ranges::find(is_finite, 0) == is_finite.end()) return;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]))
      throw InputError(
          fmt::format("rows of rank {}: found values[{}] = {}; expected a finite number",
                      communicator_.rank(), k, values[k]));
}

bool CallerRows::is_in_order(const Rows& rows) const {
  std::vector<char> found(static_cast<std::size_t>(team_.thread_count()), 1);
  team_.run([&](const TeamThread& thread) {
    const auto share =
        comm_thread::share_of(std::ssize(rows.offsets) - 1, thread.index, thread.count);
    for (auto row = static_cast<std::size_t>(share.begin);
         row < static_cast<std::size_t>(share.end); ++row)
      for (auto k = static_cast<std::size_t>(rows.offsets[row]) + 1;
           k < static_cast<std::size_t>(rows.offsets[row + 1]); ++k)
        if (rows.columns[k] <= rows.columns[k - 1])
          found[static_cast<std::size_t>(thread.index)] = 0;
  });
  return std::ranges::find(found, 0) == found.end();
}

DistributedMatrix CallerRows::use_in_place(const Rows& rows, Values kept) {
  DistributedMatrix matrix{.partition = *moved_,
                           .rank = communicator_.rank(),
                           .rows = {},
                           .halo_columns = {},
                           .global_nonzero_count = 0};
  const GlobalIndex begin = matrix.partition.begin(matrix.rank);
  const GlobalIndex end = matrix.partition.end(matrix.rank);
  matrix.rows.row_count = static_cast<LocalIndex>(end - begin);
  const auto thread_rows = spmv::cut_rows_for_threads(
      rows.offsets, RowPartition::block_size(matrix.partition.row_count()), team_.thread_count());
  const auto for_own_entries = [&](const TeamThread& thread, const auto& visit) {
    const auto index = static_cast<std::size_t>(thread.index);
    const auto first = rows.offsets[static_cast<std::size_t>(thread_rows[index])];
    const auto last = rows.offsets[static_cast<std::size_t>(thread_rows[index + 1])];
    for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k)
      visit(k);
  };

  std::vector<std::vector<GlobalIndex>> remote(static_cast<std::size_t>(team_.thread_count()));
  team_.run([&](const TeamThread& thread) {
    auto& mine = remote[static_cast<std::size_t>(thread.index)];
    for_own_entries(thread, [&](std::size_t k) {
      if (rows.columns[k] < begin || rows.columns[k] >= end) mine.push_back(rows.columns[k]);
    });
    std::ranges::sort(mine);
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  });
  auto& halo = matrix.halo_columns;
  for (const auto& mine : remote) halo.insert(halo.end(), mine.begin(), mine.end());
  std::ranges::sort(halo);
  halo.erase(std::unique(halo.begin(), halo.end()), halo.end());

  matrix.rows.row_offsets = perfmodel::HugePageBuffer<std::int64_t>(rows.offsets.size());
  std::ranges::copy(rows.offsets, matrix.rows.row_offsets.data());
  matrix.rows.columns = perfmodel::HugePageBuffer<LocalIndex>(rows.columns.size());
  if (kept == Values::borrowed) {
    // Only `collective_update` writes to it, of which the caller knows.
    matrix.rows.values = perfmodel::HugePageBuffer<double>::borrow(
        {const_cast<double*>(rows.values.data()), rows.values.size()});
    borrowed_ = rows.values.data();
  } else {
    matrix.rows.values = perfmodel::HugePageBuffer<double>(rows.values.size());
  }
  team_.run([&](const TeamThread& thread) {
    for_own_entries(thread, [&](std::size_t k) {
      matrix.rows.columns[k] = *local_column(matrix, rows.columns[k]);
      if (!borrowed_) matrix.rows.values[k] = rows.values[k];
    });
  });
  return matrix;
}

std::vector<CallerRows::Piece> CallerRows::collective_deal(
    const Rows& rows, std::map<int, std::vector<double>>& values_from) {
  const int rank = communicator_.rank();
  std::map<int, Bytes> messages;
  std::vector<Piece> pieces;
  std::optional<Piece> kept;
  for (int other = 0; other < moved_->rank_count(); ++other) {
    const GlobalIndex first = std::max(given_->begin(rank), moved_->begin(other));
    const GlobalIndex last = std::min(given_->end(rank), moved_->end(other));
    if (first >= last) continue;
    const auto row = static_cast<std::size_t>(first - given_->begin(rank));
    const auto row_count = static_cast<std::size_t>(last - first);
    const auto begin = static_cast<std::size_t>(rows.offsets[row]);
    const auto end = static_cast<std::size_t>(rows.offsets[row + row_count]);
    parcels_[other] = {begin, end};
    if (other == rank) {
      kept.emplace();
      kept->first_row = first;
      kept->offsets = rows.offsets.subspan(row, row_count + 1);
      kept->columns = rows.columns.subspan(begin, end - begin);
      kept->values = rows.values.subspan(begin, end - begin);
      continue;
    }
    Bytes& message = messages[other];
    const std::array<std::int64_t, 3> head{first, static_cast<std::int64_t>(row_count),
                                           static_cast<std::int64_t>(end - begin)};
    append(message, head.data(), head.size());
    append(message, rows.offsets.data() + row, row_count + 1);
    append(message, rows.columns.data() + begin, end - begin);
  }
  values_from = collective_send_values(rows.values);
  for (const auto& [source, message] :
       comm_thread::collective_sparse_exchange(communicator_, std::move(messages))) {
    if (source > rank && kept) pieces.push_back(*std::exchange(kept, std::nullopt));
    std::size_t at = 0;
    const auto head = take<std::int64_t>(message, at, 3);
    Piece piece;
    piece.first_row = head[0];
    piece.own_offsets = take<std::int64_t>(message, at, static_cast<std::size_t>(head[1]) + 1);
    piece.own_columns = take<std::int64_t>(message, at, static_cast<std::size_t>(head[2]));
    piece.values = values_from[source];
    pieces.push_back(std::move(piece));
  }
  if (kept) pieces.push_back(std::move(*kept));
  for (Piece& piece : pieces)
    if (!piece.own_offsets.empty()) {
      piece.offsets = piece.own_offsets;
      piece.columns = piece.own_columns;
    }
  return pieces;
}

std::map<int, std::vector<double>> CallerRows::collective_send_values(
    std::span<const double> values) const {
  std::map<int, Bytes> messages;
  for (const auto& [other, parcel] : parcels_) {
    if (other == communicator_.rank()) continue;
    append(messages[other], values.data() + parcel.begin, parcel.end - parcel.begin);
  }
  std::map<int, std::vector<double>> received;
  for (const auto& [source, message] :
       comm_thread::collective_sparse_exchange(communicator_, std::move(messages)))
    received[source] = comm_thread::from_bytes<double>(message);
  return received;
}

DistributedMatrix CallerRows::collective_assemble(const Rows& rows) {
  std::map<int, std::vector<double>> values_from;
  const std::vector<Piece> pieces = collective_deal(rows, values_from);
  spmv::MatrixAssembly assembly(*moved_, communicator_.rank(), team_.thread_count());
  // Each thread takes the rows of its share, from whichever pieces they are.
  const auto for_own_entries = [&](const TeamThread& thread, const auto& visit) {
    const auto share =
        comm_thread::share_of(moved_->size(communicator_.rank()), thread.index, thread.count);
    const std::int64_t begin = assembly.first_row() + share.begin;
    const std::int64_t end = assembly.first_row() + share.end;
    for (const Piece& piece : pieces) {
      const std::int64_t piece_end = piece.first_row + std::ssize(piece.offsets) - 1;
      for (auto row = std::max(begin, piece.first_row); row < std::min(end, piece_end); ++row) {
        const auto local = static_cast<std::size_t>(row - piece.first_row);
        for (auto k = piece.offsets[local]; k < piece.offsets[local + 1]; ++k) {
          const auto entry = static_cast<std::size_t>(k - piece.offsets.front());
          visit(row, piece.columns[entry], piece.values[entry]);
        }
      }
    }
  };
  team_.run([&](const TeamThread& thread) {
    for_own_entries(thread, [&](GlobalIndex row, GlobalIndex column, double /*value*/) {
      assembly.count(row, column, thread.index);
    });
  });
  comm_thread::collective_attempt(communicator_, [&] { assembly.allocate(team_); });
  team_.run([&](const TeamThread& thread) {
    for_own_entries(thread, [&](GlobalIndex row, GlobalIndex column, double value) {
      assembly.insert(row, column, value);
    });
  });
  auto matrix = std::move(assembly).collective_finish(communicator_, team_);
  remember_places(matrix, pieces);
  return matrix;
}

void CallerRows::remember_places(const DistributedMatrix& matrix,
                                 const std::vector<Piece>& pieces) {
  std::size_t moved_row = 0;
  bool is_in_order = true;
  for (const Piece& piece : pieces)
    for (std::size_t i = 0; i + 1 < piece.offsets.size() && is_in_order; ++i, ++moved_row)
      is_in_order = is_row(
          matrix, moved_row,
          piece.columns.subspan(static_cast<std::size_t>(piece.offsets[i] - piece.offsets.front()),
                                static_cast<std::size_t>(piece.offsets[i + 1] - piece.offsets[i])));
  if (is_in_order) return;
  entry_begin_.assign(1, 0);
  for (const Piece& piece : pieces)
    for (std::size_t row = 0; row + 1 < piece.offsets.size(); ++row)
      entry_begin_.push_back(entry_begin_.back() + piece.offsets[row + 1] - piece.offsets[row]);
  places_.resize(static_cast<std::size_t>(entry_begin_.back()));
  std::size_t entry = 0;
  std::size_t row = 0;
  for (const Piece& piece : pieces)
    for (std::size_t i = 0; i + 1 < piece.offsets.size(); ++i, ++row) {
      const auto* const columns = matrix.rows.columns.data();
      const auto begin = columns + matrix.rows.row_offsets[row];
      const auto end = columns + matrix.rows.row_offsets[row + 1];
      for (auto k = piece.offsets[i]; k < piece.offsets[i + 1]; ++k) {
        const GlobalIndex wanted =
            piece.columns[static_cast<std::size_t>(k - piece.offsets.front())];
        const auto found = std::lower_bound(begin, end, wanted, [&](LocalIndex c, GlobalIndex w) {
          return matrix.global_column(c) < w;
        });
        places_[entry++] = static_cast<std::uint32_t>(found - begin);
      }
    }
}

std::vector<std::span<const double>> CallerRows::parts_of(
    const std::map<int, std::vector<double>>& received, std::span<const double> values) const {
  std::vector<std::span<const double>> parts;
  const auto own = parcels_.find(communicator_.rank());
  bool has_own = own == parcels_.end();
  const auto add_own = [&] {
    if (std::exchange(has_own, true)) return;
    parts.push_back(values.subspan(own->second.begin, own->second.end - own->second.begin));
  };
  for (const auto& [source, list] : received) {
    if (source > communicator_.rank()) add_own();
    parts.emplace_back(list);
  }
  add_own();
  return parts;
}

void CallerRows::collective_update(std::span<const double> values, spmv::SplitMatrix& matrix) {
  comm_thread::collective_attempt(communicator_, [&] {
    if (values.size() != given_entry_count_)
      throw InputError(
          fmt::format("values of rank {}: found {}; expected {} as in the rows that the matrix was "
                      "made of",
                      communicator_.rank(), values.size(), given_entry_count_));
    check_values(values);
  });
  const auto& offsets = matrix.matrix().rows.row_offsets;
  if (is_in_place_) {
    matrix.update_values(
        team_, [&](const TeamThread&, LocalIndex begin, LocalIndex end, std::span<double> stored) {
          const auto first = offsets[static_cast<std::size_t>(begin)];
          const auto last = offsets[static_cast<std::size_t>(end)];
          if (stored.data() != values.data())
            std::copy(values.begin() + first, values.begin() + last, stored.begin() + first);
        });
    return;
  }

  const auto received = collective_send_values(values);
  const auto parts = parts_of(received, values);
  if (entry_begin_.empty()) {
    matrix.update_values(
        team_, [&](const TeamThread&, LocalIndex begin, LocalIndex end, std::span<double> stored) {
          const auto first = static_cast<std::size_t>(offsets[static_cast<std::size_t>(begin)]);
          const auto last = static_cast<std::size_t>(offsets[static_cast<std::size_t>(end)]);
          copy_entries(parts, first, stored.subspan(first, last - first));
        });
    return;
  }

  std::vector<double> all(places_.size());
  copy_entries(parts, 0, all);
  matrix.update_values(team_, [&](const TeamThread&, LocalIndex begin, LocalIndex end,
                                  std::span<double> stored) {
    std::vector<std::pair<std::uint32_t, double>> entries;
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      entries.clear();
      for (auto k = static_cast<std::size_t>(entry_begin_[row]);
           k < static_cast<std::size_t>(entry_begin_[row + 1]); ++k)
        entries.emplace_back(places_[k], all[k]);
      // As MatrixAssembly does: duplicates in ascending order of value.
      if (std::ssize(entries) != offsets[row + 1] - offsets[row]) std::ranges::sort(entries);
      double* const values_of_row = stored.data() + offsets[row];
      std::fill_n(values_of_row, offsets[row + 1] - offsets[row], 0.0);
      for (const auto& [place, value] : entries) values_of_row[place] += value;
    }
  });
}

}  // namespace weft::library
