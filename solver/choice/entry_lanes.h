#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "perfmodel/simd.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// Eight entries of a row side by side; a row of five leaves three lanes without an entry.
struct EntryLanes {
  perfmodel::Mask8 is_entry{};
  perfmodel::Mask8 column{};  // global; of no use where no entry is
  perfmodel::Lane8 value{};  // 0 where no entry is
};

/// Entries [first, first + 8) of the rank's, as far as they are before `last`, where a row ends.
/// Columns of a row ascend by global number, so that where the first and the last one are own ones,
/// all are.
[[gnu::always_inline]] inline EntryLanes entry_lanes(const spmv::DistributedMatrix& matrix,
                                                     std::size_t first, std::size_t last) {
  using Columns8 = std::int32_t __attribute__((vector_size(32)));
  struct [[gnu::packed, gnu::may_alias]] Columns {
    Columns8 value;
  };
  const spmv::LocalIndex* const columns = matrix.rows.columns.data();
  const std::size_t end = std::min(first + 8, last);
  const spmv::LocalIndex row_count = matrix.rows.row_count;
  if (first + 8 <= matrix.rows.columns.size() && columns[first] < row_count &&
      columns[end - 1] < row_count) [[likely]] {
    constexpr perfmodel::Mask8 lane{0, 1, 2, 3, 4, 5, 6, 7};
    const perfmodel::Mask8 is_entry = lane < static_cast<long long>(end - first);
    const perfmodel::Mask8 own = __builtin_convertvector(
        reinterpret_cast<const Columns*>(columns + first)->value, perfmodel::Mask8);
    const perfmodel::Lane8 values = perfmodel::lanes(matrix.rows.values.data() + first).value;
    return {
        is_entry, own + matrix.first_row(),
        reinterpret_cast<perfmodel::Lane8>(reinterpret_cast<perfmodel::Mask8>(values) & is_entry)};
  }
  EntryLanes lanes;
  for (std::size_t k = first; k < end; ++k) {
    const auto lane = static_cast<int>(k - first);
    lanes.is_entry[lane] = -1;
    lanes.column[lane] = matrix.global_column(columns[k]);
    lanes.value[lane] = matrix.rows.values[k];
  }
  return lanes;
}

/// Adds to `sum`, lane by lane, what the entries `selected` stand for in a sum over the matrix.
/// `distance`: column minus row, not 0. The sum is 0 where every entry has a transposed one with
/// the same bits; of other matrices, hardly any has a sum of 0. Entries are added in any order, on
/// any rank or thread.
///
///     (3, 5, −1)   + bits(3, 5, −1)
///     (5, 3, −1)   − bits(3, 5, −1)
[[gnu::always_inline]] inline void add_symmetry_bits(const EntryLanes& lanes,
                                                     const perfmodel::Mask8& distance,
                                                     const perfmodel::Mask8& selected,
                                                     spmv::GlobalIndex row,
                                                     perfmodel::Words8& sum) {
  using perfmodel::Words8;
  // Odd constants: the golden ratio's and those of SplitMix64.
  constexpr std::uint64_t shift = 0x9e3779b97f4a7c15;
  const auto columns = reinterpret_cast<Words8>(lanes.column);
  const auto number = reinterpret_cast<Words8>(lanes.value);
  // The same for (row, column) and (column, row). A last multiplication of the bits would change
  // nothing, as it is one of the sum.
  Words8 bits = (columns + shift) * (static_cast<std::uint64_t>(row) + shift) +
                (number ^ (number >> 32)) * 0x94d049bb133111eb;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits ^= bits >> 32;
  const auto is_below = reinterpret_cast<Words8>(distance >> 63);
  sum += ((bits ^ is_below) - is_below) & reinterpret_cast<Words8>(selected);
}

}  // namespace weft::solver
