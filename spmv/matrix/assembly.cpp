#include "spmv/matrix/assembly.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "spmv/rows/halo_columns.h"
#include "spmv/rows/thread_rows.h"

namespace weft::spmv {
namespace {

using comm_thread::TeamThread;

/// An entry of one row while the row is being ordered.
struct Entry {
  GlobalIndex column;
  double value;
  LocalIndex local_column;

  bool operator<(const Entry& other) const {
    return column != other.column ? column < other.column : value < other.value;
  }
};

/// Adds up neighbours of the same column; `entries` are in order.
void merge_duplicates(std::vector<Entry>& entries) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].column == entries[last].column)
      entries[last].value += entries[i].value;
    else
      entries[++last] = entries[i];
  }
  if (!entries.empty()) entries.resize(last + 1);
}

/// An entry of one row, given or mirrored, while both are compared.
struct MirrorEntry {
  GlobalIndex column;
  bool is_mirrored;
  double value;
  LocalIndex local_column;

  bool has_place_of(const MirrorEntry& other) const {
    return column == other.column && is_mirrored == other.is_mirrored;
  }
  bool operator<(const MirrorEntry& other) const {
    if (column != other.column) return column < other.column;
    return is_mirrored != other.is_mirrored ? other.is_mirrored : value < other.value;
  }
};

}  // namespace

MatrixAssembly::MatrixAssembly(RowPartition partition, int rank, int thread_count)
    : partition_(std::move(partition)),
      rank_(rank),
      remote_columns_(static_cast<std::size_t>(thread_count)) {
  constexpr GlobalIndex most = std::numeric_limits<LocalIndex>::max();
  if (partition_.size(rank) > most)
    throw comm_thread::InputError("rank " + std::to_string(rank) + " would own " +
                                  std::to_string(partition_.size(rank)) +
                                  " rows; expected at most 2147483647: use more ranks");
  rows_.row_count = static_cast<LocalIndex>(partition_.size(rank));
  rows_.row_offsets =
      perfmodel::HugePageBuffer<std::int64_t>(static_cast<std::size_t>(rows_.row_count) + 1);
}

void MatrixAssembly::count(GlobalIndex row, GlobalIndex column, int thread) {
  ++rows_.row_offsets[static_cast<std::size_t>(row - first_row()) + 1];
  if (!is_own(column)) remote_columns_[static_cast<std::size_t>(thread)].insert(column);
}

void MatrixAssembly::allocate(const comm_thread::ComputeTeam& team) {
  for (auto& columns : remote_columns_) {
    halo_columns_.insert(halo_columns_.end(), columns.begin(), columns.end());
    columns = {};
  }
  sort_columns(halo_columns_);
  expect_few_columns(rank_, rows_.row_count, std::ssize(halo_columns_));

  auto& offsets = rows_.row_offsets;
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
  const auto nonzeros = static_cast<std::size_t>(offsets[offsets.size() - 1]);
  rows_.columns = perfmodel::HugePageBuffer<LocalIndex>(nonzeros);
  rows_.values = perfmodel::HugePageBuffer<double>(nonzeros);
  filled_.assign(static_cast<std::size_t>(rows_.row_count), 0);

  thread_rows_ =
      cut_rows_for_threads(rows_.row_offsets.span(),
                           RowPartition::block_size(partition_.row_count()), team.thread_count());
  team.run([&](const TeamThread& thread) {
    const auto [first, last] = rows_of(thread);
    const auto begin = offsets[first];
    const auto end = offsets[last];
    std::fill(rows_.columns.data() + begin, rows_.columns.data() + end, 0);
    std::fill(rows_.values.data() + begin, rows_.values.data() + end, 0.0);
  });
}

std::pair<std::size_t, std::size_t> MatrixAssembly::rows_of(const TeamThread& thread) const {
  const auto index = static_cast<std::size_t>(thread.index);
  return {static_cast<std::size_t>(thread_rows_[index]),
          static_cast<std::size_t>(thread_rows_[index + 1])};
}

std::optional<LocalIndex> MatrixAssembly::local_column(GlobalIndex column) const {
  if (is_own(column)) return static_cast<LocalIndex>(column - first_row());
  const LocalIndex place = halo_place(halo_columns_, column);
  if (place == std::ssize(halo_columns_)) return std::nullopt;
  return rows_.row_count + place;
}

void MatrixAssembly::insert(GlobalIndex row, GlobalIndex column, double value) {
  const auto local_row = static_cast<std::size_t>(row - first_row());
  const auto place = static_cast<std::size_t>(rows_.row_offsets[local_row] + filled_[local_row]++);
  const auto local = local_column(column);
  if (!local || place >= static_cast<std::size_t>(rows_.row_offsets[local_row + 1])) {
    --filled_[local_row];
    has_changed_.store(true, std::memory_order_relaxed);
    return;
  }
  rows_.columns[place] = *local;
  rows_.values[place] = value;
}

void MatrixAssembly::insert_mirrored(GlobalIndex row, GlobalIndex column, double value) {
  const auto local_row = static_cast<std::size_t>(row - first_row());
  const LocalIndex filled = filled_[local_row];
  insert(row, column, value);
  if (filled_[local_row] == filled) return;
  LocalIndex& local =
      rows_.columns[static_cast<std::size_t>(rows_.row_offsets[local_row] + filled)];
  local = ~local;  // a mark, which merge_mirrored_row takes away
}

void MatrixAssembly::merge_mirrored_row(std::size_t row, MirrorMerge& merge) {
  const auto begin = static_cast<std::size_t>(rows_.row_offsets[row]);
  const auto end = begin + static_cast<std::size_t>(filled_[row]);
  std::vector<MirrorEntry> entries;
  for (std::size_t k = begin; k < end; ++k) {
    const bool is_mirrored = rows_.columns[k] < 0;
    const LocalIndex column = is_mirrored ? ~rows_.columns[k] : rows_.columns[k];
    entries.push_back({global_column(column), is_mirrored, rows_.values[k], column});
  }
  std::sort(entries.begin(), entries.end());
  std::size_t filled = begin;
  const MirrorEntry* last = nullptr;  // of the place before, its duplicates added up
  for (std::size_t i = 0; i < entries.size();) {
    MirrorEntry& sum = entries[i];
    while (++i < entries.size() && entries[i].has_place_of(sum)) sum.value += entries[i].value;
    const bool is_second = last && last->column == sum.column;
    if (!is_second) {
      rows_.columns[filled] = sum.local_column;
      rows_.values[filled++] = sum.value;
    } else if (last->value == sum.value) {
      ++merge.pair_count;
    } else if (!merge.has_conflict) {
      merge = {merge.pair_count, true,        first_row() + static_cast<GlobalIndex>(row),
               sum.column,       last->value, sum.value};
    }
    last = &sum;
  }
  filled_[row] = static_cast<LocalIndex>(filled - begin);
}

MirrorMerge MatrixAssembly::collective_merge_mirrored(const comm_thread::Communicator& communicator,
                                                      const comm_thread::ComputeTeam& team) {
  std::vector<MirrorMerge> merges(static_cast<std::size_t>(team.thread_count()));
  team.run([&](const TeamThread& thread) {
    const auto [first, last] = rows_of(thread);
    MirrorMerge merge;
    for (std::size_t row = first; row < last; ++row) merge_mirrored_row(row, merge);
    merges[static_cast<std::size_t>(thread.index)] = merge;
  });
  std::int64_t pairs = 0;
  for (const MirrorMerge& each : merges) pairs += each.pair_count;
  // Threads have ascending rows, and so have ranks.
  const auto found = std::ranges::find(merges, true, &MirrorMerge::has_conflict);
  const bool is_found = found != merges.end();
  constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();
  const GlobalIndex row = communicator.min(is_found ? found->row : none);
  // Each pair stands in two rows.
  MirrorMerge merge{.pair_count = communicator.sum(pairs) / 2, .has_conflict = row != none};
  if (!merge.has_conflict) return merge;
  std::array<std::int64_t, 3> numbers{};
  if (is_found && found->row == row)
    numbers = {found->column, std::bit_cast<std::int64_t>(found->value),
               std::bit_cast<std::int64_t>(found->mirrored)};
  communicator.sum(numbers);
  merge.row = row;
  merge.column = numbers[0];
  merge.value = std::bit_cast<double>(numbers[1]);
  merge.mirrored = std::bit_cast<double>(numbers[2]);
  return merge;
}

GlobalIndex MatrixAssembly::global_column(LocalIndex column) const {
  return column < rows_.row_count
             ? first_row() + column
             : halo_columns_[static_cast<std::size_t>(column - rows_.row_count)];
}

bool MatrixAssembly::is_in_order(std::size_t begin, std::size_t end) const {
  GlobalIndex last = -1;
  for (std::size_t k = begin; k < end; ++k) {
    const GlobalIndex column = global_column(rows_.columns[k]);
    if (column <= last) return false;
    last = column;
  }
  return true;
}

void MatrixAssembly::order_rows(const comm_thread::ComputeTeam& team) {
  team.run([&](const TeamThread& thread) {
    const auto [first, last] = rows_of(thread);
    std::vector<Entry> entries;
    for (std::size_t row = first; row < last; ++row) {
      const auto begin = static_cast<std::size_t>(rows_.row_offsets[row]);
      const auto end = begin + static_cast<std::size_t>(filled_[row]);
      if (is_in_order(begin, end)) continue;
      entries.clear();
      for (std::size_t k = begin; k < end; ++k) {
        const LocalIndex column = rows_.columns[k];
        entries.push_back({global_column(column), rows_.values[k], column});
      }
      std::sort(entries.begin(), entries.end());
      merge_duplicates(entries);
      for (std::size_t i = 0; i < entries.size(); ++i) {
        rows_.columns[begin + i] = entries[i].local_column;
        rows_.values[begin + i] = entries[i].value;
      }
      filled_[row] = static_cast<LocalIndex>(entries.size());
    }
  });
}

void MatrixAssembly::close_gaps() {
  auto& offsets = rows_.row_offsets;
  std::int64_t end = 0;
  for (std::size_t row = 0; row < filled_.size(); ++row) {
    const std::int64_t begin = std::exchange(offsets[row], end);
    if (begin != end) {
      std::copy_n(rows_.columns.data() + begin, filled_[row], rows_.columns.data() + end);
      std::copy_n(rows_.values.data() + begin, filled_[row], rows_.values.data() + end);
    }
    end += filled_[row];
  }
  offsets[filled_.size()] = end;
}

DistributedMatrix MatrixAssembly::collective_finish(const comm_thread::Communicator& communicator,
                                                    const comm_thread::ComputeTeam& team) && {
  comm_thread::collective_agree_on_error(
      communicator,
      has_changed_ ? "the matrix changed while it was read; expected it to stay as it is" : "");
  order_rows(team);
  close_gaps();
  const std::int64_t nonzeros = communicator.sum(rows_.nonzero_count());
  return {std::move(partition_), rank_, std::move(rows_), std::move(halo_columns_), nonzeros};
}

}  // namespace weft::spmv
