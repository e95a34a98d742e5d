#include "spmv/entries/explicit_zeros.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;

/// The first row of each thread's share; [thread_count + 1].
std::vector<std::size_t> shares_of(const ComputeTeam& team, const CrsMatrix& rows) {
  std::vector<std::size_t> first{0};
  for (int thread = 0; thread < team.thread_count(); ++thread)
    first.push_back(static_cast<std::size_t>(
        comm_thread::share_of(rows.row_count, thread, team.thread_count()).end));
  return first;
}

bool is_dropped(std::size_t row, LocalIndex column, double value) {
  return value == 0 && column != static_cast<LocalIndex>(row);
}

std::int64_t count_zeros(const CrsMatrix& rows, std::size_t first, std::size_t last) {
  const auto begin = static_cast<std::size_t>(rows.row_offsets[first]);
  const auto end = static_cast<std::size_t>(rows.row_offsets[last]);
  std::int64_t all = 0;  // also on the diagonal
  for (std::size_t k = begin; k < end; ++k) all += rows.values[k] == 0 ? 1 : 0;
  if (all == 0) return 0;
  std::int64_t count = 0;
  for (std::size_t row = first; row < last; ++row)
    for (auto k = static_cast<std::size_t>(rows.row_offsets[row]);
         k < static_cast<std::size_t>(rows.row_offsets[row + 1]); ++k)
      count += is_dropped(row, rows.columns[k], rows.values[k]) ? 1 : 0;
  return count;
}

/// The rows of each thread move up within its share where zeros were, then the shares.
void drop_zeros(const ComputeTeam& team, CrsMatrix& rows) {
  const auto first = shares_of(team, rows);
  FilledShares shares(rows, first);
  team.run([&](const TeamThread& thread) {
    const auto share = static_cast<std::size_t>(thread.index);
    std::int64_t begin = shares.begin(share);
    std::int64_t filled = begin;
    for (std::size_t row = first[share]; row < first[share + 1]; ++row) {
      const std::int64_t end =
          row + 1 < first[share + 1] ? rows.row_offsets[row + 1] : shares.end(share);
      rows.row_offsets[row] = filled;
      for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
        if (is_dropped(row, rows.columns[k], rows.values[k])) continue;
        rows.columns[static_cast<std::size_t>(filled)] = rows.columns[k];
        rows.values[static_cast<std::size_t>(filled++)] = rows.values[k];
      }
      begin = end;
    }
    shares.set_end(share, filled);
  });
  shares.join();
}

}  // namespace

FilledShares::FilledShares(CrsMatrix& rows, std::vector<std::size_t> first)
    : rows_(rows), first_(std::move(first)), ends_(first_.size() - 1) {
  for (const std::size_t row : first_) begins_.push_back(rows.row_offsets[row]);
}

void FilledShares::join() {
  std::int64_t filled = 0;
  for (std::size_t share = 0; share < ends_.size(); ++share) {
    const std::int64_t gap = begins_[share] - filled;
    const std::int64_t count = ends_[share] - begins_[share];
    if (gap > 0) {
      std::copy_n(rows_.columns.data() + begins_[share], count, rows_.columns.data() + filled);
      std::copy_n(rows_.values.data() + begins_[share], count, rows_.values.data() + filled);
      for (std::size_t row = first_[share]; row < first_[share + 1]; ++row)
        rows_.row_offsets[row] -= gap;
    }
    filled += count;
  }
  rows_.row_offsets[first_.back()] = filled;
}

std::int64_t collective_count_zeros(const Communicator& communicator, const ComputeTeam& team,
                                    const DistributedMatrix& matrix) {
  const auto first = shares_of(team, matrix.rows);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(team.thread_count()));
  team.run([&](const TeamThread& thread) {
    const auto share = static_cast<std::size_t>(thread.index);
    counts[share] = count_zeros(matrix.rows, first[share], first[share + 1]);
  });
  std::int64_t count = 0;
  for (const std::int64_t each : counts) count += each;
  return communicator.sum(count);
}

void collective_drop_zeros(const Communicator& communicator, const ComputeTeam& team,
                           DistributedMatrix& matrix) {
  drop_zeros(team, matrix.rows);
  matrix.global_nonzero_count = communicator.sum(matrix.rows.nonzero_count());
}

void drop_unused_halo(DistributedMatrix& matrix) {
  CrsMatrix& rows = matrix.rows;
  const auto nonzeros = static_cast<std::size_t>(rows.nonzero_count());
  std::vector<char> is_used(matrix.halo_columns.size());
  for (std::size_t k = 0; k < nonzeros; ++k)
    if (rows.columns[k] >= rows.row_count)
      is_used[static_cast<std::size_t>(rows.columns[k] - rows.row_count)] = 1;
  keep_halo(matrix, is_used);
}

void keep_halo(DistributedMatrix& matrix, std::span<const char> is_used) {
  if (std::ranges::find(is_used, 0) == is_used.end()) return;
  CrsMatrix& rows = matrix.rows;
  const auto nonzeros = static_cast<std::size_t>(rows.nonzero_count());
  std::vector<LocalIndex> places(is_used.size());
  std::vector<GlobalIndex> used;
  for (std::size_t i = 0; i < is_used.size(); ++i) {
    places[i] = rows.row_count + static_cast<LocalIndex>(used.size());
    if (is_used[i] != 0) used.push_back(matrix.halo_columns[i]);
  }
  for (std::size_t k = 0; k < nonzeros; ++k)
    if (rows.columns[k] >= rows.row_count)
      rows.columns[k] = places[static_cast<std::size_t>(rows.columns[k] - rows.row_count)];
  matrix.halo_columns = std::move(used);
}

CrsMatrix copy_rows(const ComputeTeam& team, const CrsMatrix& rows) {
  CrsMatrix copy;
  const auto nonzeros = static_cast<std::size_t>(rows.nonzero_count());
  copy.row_count = rows.row_count;
  copy.row_offsets = perfmodel::HugePageBuffer<std::int64_t>(rows.row_offsets.size());
  std::ranges::copy(rows.row_offsets.span(), copy.row_offsets.data());
  copy.columns = perfmodel::HugePageBuffer<LocalIndex>(nonzeros);
  copy.values = perfmodel::HugePageBuffer<double>(nonzeros);
  const auto first = shares_of(team, rows);
  team.run([&](const TeamThread& thread) {
    const auto share = static_cast<std::size_t>(thread.index);
    const std::int64_t begin = rows.row_offsets[first[share]];
    const std::int64_t count = rows.row_offsets[first[share + 1]] - begin;
    std::copy_n(rows.columns.data() + begin, count, copy.columns.data() + begin);
    std::copy_n(rows.values.data() + begin, count, copy.values.data() + begin);
  });
  return copy;
}

std::string text_of_zeros(std::int64_t zero_count, std::int64_t entry_count) {
  return fmt::format("{} of {} entries {} off the diagonal and left out of the operator",
                     zero_count, entry_count,
                     zero_count == 1 ? "is an exact zero" : "are exact zeros");
}

}  // namespace weft::spmv
