#include "spmv/entries/diagonal_sides.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/option_name.h"
#include "spmv/rows/row_delivery.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;

constexpr GlobalIndex most_rows_of_block = 32;

/// Sizes of diagonal blocks that come into question, ascending, of single entries first.
std::vector<GlobalIndex> block_sizes(GlobalIndex row_count, GlobalIndex known) {
  std::vector<GlobalIndex> sizes{1};
  const auto add = [&](GlobalIndex size) {
    if (size > 1 && size < row_count && row_count % size == 0) sizes.push_back(size);
  };
  if (known > 0)
    add(known);
  else
    for (GlobalIndex size = 2; size <= most_rows_of_block; ++size) add(size);
  return sizes;
}

/// The sides on which no entry has been seen: bit i of each is that of blocks of sizes[i] rows.
struct EmptySides {
  std::uint64_t below;
  std::uint64_t above;

  void see(GlobalIndex row, GlobalIndex column, const std::vector<GlobalIndex>& sizes) {
    std::uint64_t& side = column < row ? below : above;
    for (std::uint64_t rest = side; rest != 0; rest &= rest - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(rest));
      if (row / sizes[bit] != column / sizes[bit]) side &= ~(std::uint64_t{1} << bit);
    }
  }
};

/// An entry of a diagonal block and the place of its mirror image: `low` < `high`.
struct BlockEntry {
  GlobalIndex low;
  GlobalIndex high;
  bool is_below;
  double value;

  bool is_mirror_of(const BlockEntry& other) const {
    return low == other.low && high == other.high;
  }
  bool operator<(const BlockEntry& other) const {
    if (low != other.low) return low < other.low;
    return high != other.high ? high < other.high : is_below < other.is_below;
  }
};

/// True if the diagonal blocks of `size` rows are symmetric, and, unless the size `is_known`, in
/// each of them at least as many pairs of mirror images are stored as couple all its rows: a few
/// of any triangular matrix may lie in blocks by chance. Memory: 64 bytes for each of their
/// entries.
bool collective_has_symmetric_blocks(const Communicator& communicator,
                                     const DistributedMatrix& matrix, GlobalIndex size,
                                     bool is_known) {
  std::vector<GlobalIndex> owners;  // by their rows: of the first row of the block
  std::vector<BlockEntry> sent;
  matrix.for_each_entry([&](GlobalIndex row, GlobalIndex column, double value) {
    if (row == column || row / size != column / size) return;
    owners.push_back(row / size * size);
    sent.push_back({std::min(row, column), std::max(row, column), column < row, value});
  });
  std::vector<BlockEntry> entries;
  collective_deliver<BlockEntry>(
      communicator, matrix.partition, owners, sent,
      [&](GlobalIndex /*row*/, const BlockEntry& entry) { entries.push_back(entry); });
  std::sort(entries.begin(), entries.end());
  std::int64_t faults = 0;
  std::int64_t coupled_blocks = 0;
  for (std::size_t i = 0; i < entries.size();) {
    const GlobalIndex block = entries[i].low / size;
    GlobalIndex pairs = 0;
    for (; i < entries.size() && entries[i].low / size == block; ++i) {
      const bool has_mirror = i + 1 < entries.size() && entries[i + 1].is_mirror_of(entries[i]);
      if (entries[i].value != (has_mirror ? entries[i + 1].value : 0)) ++faults;
      if (!has_mirror) continue;
      ++pairs;
      ++i;
    }
    if (pairs >= size - 1) ++coupled_blocks;
  }
  return communicator.sum(faults) == 0 &&
         (communicator.sum(coupled_blocks) == matrix.partition.row_count() / size || is_known);
}

}  // namespace

Triangle parse_triangle(const std::string& word) {
  return word == "mirrored" ? Triangle::mirrored
         : word == "as-is"  ? Triangle::as_is
                            : Triangle::unsaid;
}

std::string DiagonalSides::text() const {
  const std::string what = block_size == 1 ? "" : fmt::format(" blocks of {} rows", block_size);
  return fmt::format(
      "found entries {} the diagonal{} only; expected both triangles, or a word: {} "
      "for half of a symmetric matrix, {} for a triangular one",
      has_above ? "above" : "below", what, comm_thread::option_name("triangle", "mirrored"),
      comm_thread::option_name("triangle", "as-is"));
}

DiagonalSides collective_find_sides(const Communicator& communicator, const ComputeTeam& team,
                                    const DistributedMatrix& matrix, GlobalIndex block_size) {
  const auto sizes = block_sizes(matrix.partition.row_count(), block_size);
  const std::uint64_t all = (std::uint64_t{1} << sizes.size()) - 1;
  std::vector<EmptySides> empty(static_cast<std::size_t>(team.thread_count()), {all, all});
  const CrsMatrix& rows = matrix.rows;
  team.run([&](const TeamThread& thread) {
    const auto share = comm_thread::share_of(rows.row_count, thread.index, thread.count);
    EmptySides mine{all, all};
    for (auto row = static_cast<std::size_t>(share.begin);
         row < static_cast<std::size_t>(share.end) && (mine.below | mine.above) != 0; ++row) {
      const GlobalIndex global_row = matrix.first_row() + static_cast<GlobalIndex>(row);
      for (auto k = static_cast<std::size_t>(rows.row_offsets[row]);
           k < static_cast<std::size_t>(rows.row_offsets[row + 1]); ++k) {
        const GlobalIndex column = matrix.global_column(rows.columns[k]);
        if (column != global_row && rows.values[k] != 0) mine.see(global_row, column, sizes);
      }
    }
    empty[static_cast<std::size_t>(thread.index)] = mine;
  });
  // How many threads of all ranks have seen entries: below, then above, by sizes.
  std::vector<std::int64_t> seen(2 * sizes.size());
  for (const EmptySides& mine : empty)
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      seen[i] += (mine.below >> i & 1) == 0 ? 1 : 0;
      seen[sizes.size() + i] += (mine.above >> i & 1) == 0 ? 1 : 0;
    }
  communicator.sum(seen);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const DiagonalSides sides{seen[i] > 0, seen[sizes.size() + i] > 0, sizes[i]};
    if (!sides.is_one_sided()) continue;
    if (sizes[i] == 1 ||
        collective_has_symmetric_blocks(communicator, matrix, sizes[i], block_size > 0))
      return sides;
  }
  return {seen[0] > 0, seen[sizes.size()] > 0, 1};
}

}  // namespace weft::spmv
