#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "perfmodel/simd.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// Eight integers, of which a comparison makes all bits set or none.
template <class Simd>
using Integers8 = typename Simd::template Lanes<long long, 8>;

/// Eight entries of a row side by side; a row of five leaves three lanes without an entry.
template <class Simd>
struct EntryLanes {
  Integers8<Simd> is_entry;
  Integers8<Simd> column;  // global; of no use where no entry is
  typename Simd::Lane8 value;  // 0 where no entry is
};

/// Entries [first, first + 8) of the rank's, as far as they are before `last`, where a row ends.
/// Columns of a row ascend by global number, so that where the first and the last one are own ones,
/// all are.
template <class Simd>
[[gnu::always_inline]] inline EntryLanes<Simd> entry_lanes(const spmv::DistributedMatrix& matrix,
                                                           std::size_t first, std::size_t last) {
  using Integers = Integers8<Simd>;
  using Lane8 = typename Simd::Lane8;
  const spmv::LocalIndex* const columns = matrix.rows.columns.data();
  const std::size_t end = std::min(first + 8, last);
  const spmv::LocalIndex row_count = matrix.rows.row_count;
  if (first + 8 <= matrix.rows.columns.size() && columns[first] < row_count &&
      columns[end - 1] < row_count) [[likely]] {
    const Integers lane = Integers::of([](int i) { return static_cast<long long>(i); });
    const Integers is_entry = Integers(static_cast<long long>(end - first)) > lane;
    const Integers own = Integers::load_converted(columns + first);
    const Lane8 values = Lane8::load(matrix.rows.values.data() + first);
    return {is_entry, own + static_cast<long long>(matrix.first_row()),
            (values.template bits_as<long long>() & is_entry).template bits_as<double>()};
  }
  std::array<long long, 8> is_entry{};
  std::array<long long, 8> column{};
  std::array<double, 8> value{};
  for (std::size_t k = first; k < end; ++k) {
    is_entry[k - first] = -1;
    column[k - first] = matrix.global_column(columns[k]);
    value[k - first] = matrix.rows.values[k];
  }
  return {Integers::load(is_entry.data()), Integers::load(column.data()),
          Lane8::load(value.data())};
}

/// Adds to `sum`, lane by lane, what the entries `selected` stand for in a sum over the matrix.
/// `distance`: column minus row, not 0. The sum is 0 where every entry has a transposed one with
/// the same bits; of other matrices, hardly any has a sum of 0. Entries are added in any order, on
/// any rank or thread.
///
///     (3, 5, −1)   + bits(3, 5, −1)
///     (5, 3, −1)   − bits(3, 5, −1)
template <class Simd>
[[gnu::always_inline]] inline void add_symmetry_bits(
    const EntryLanes<Simd>& lanes, const Integers8<Simd>& distance, const Integers8<Simd>& selected,
    spmv::GlobalIndex row, typename Simd::template Lanes<unsigned long long, 8>& sum) {
  using Word = unsigned long long;
  using Words = typename Simd::template Lanes<Word, 8>;
  // Odd constants: the golden ratio's and those of SplitMix64.
  constexpr Word shift = 0x9e3779b97f4a7c15;
  const Words columns = lanes.column.template bits_as<Word>();
  const Words number = lanes.value.template bits_as<Word>();
  // The same for (row, column) and (column, row). A last multiplication of the bits would change
  // nothing, as it is one of the sum.
  Words bits = (columns + shift) * (static_cast<Word>(row) + shift) +
               (number ^ (number >> 32)) * 0x94d049bb133111eb;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = bits ^ (bits >> 32);
  const Words is_below = (Integers8<Simd>(0) > distance).template bits_as<Word>();
  sum += ((bits ^ is_below) - is_below) & selected.template bits_as<Word>();
}

}  // namespace weft::solver
