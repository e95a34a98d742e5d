#include <cstddef>
#include <cstdint>

#include "perfmodel/simd.h"
#include "spmv/matrix/block_group.h"
#include "spmv/matrix/column_words.h"
#include "spmv/matrix/prefetch.h"
#include "spmv/matrix/sliced_rows.h"

namespace weft::spmv {
namespace {

constexpr int rows_at_once = 4;

/// Half of a chunk, a sum for each of its rows. Lanes: one entry of each vector. `columns`:
/// distances to `x`. `y`: of the window.
template <class Lanes, class Columns, class Value>
[[gnu::always_inline]] inline void multiply_half_chunk(const Value* values, Columns columns,
                                                       const std::uint8_t* lengths,
                                                       const std::uint8_t* order, const Value* x,
                                                       Value* y) {
  constexpr std::int64_t width = Lanes::size;
  const auto there = [&](std::size_t lane) __attribute__((always_inline)) {
    return Lanes::load(x + columns[lane] * width);
  };
  Lanes first{};
  Lanes second{};
  Lanes third{};
  Lanes fourth{};
  unsigned slot = 0;
  for (; slot < lengths[rows_at_once - 1]; ++slot) {
    prefetch(values);
    prefetch(columns.words);
    first += values[0] * there(0);
    second += values[1] * there(1);
    third += values[2] * there(2);
    fourth += values[3] * there(3);
    values += SlicedRows<Value>::chunk_rows;
    columns.advance(SlicedRows<Value>::chunk_rows);
  }
  for (; slot < lengths[0]; ++slot) {
    first += values[0] * there(0);
    if (slot < lengths[1]) second += values[1] * there(1);
    if (slot < lengths[2]) third += values[2] * there(2);
    values += SlicedRows<Value>::chunk_rows;
    columns.advance(SlicedRows<Value>::chunk_rows);
  }
  first.store(y + order[0] * width);
  second.store(y + order[1] * width);
  third.store(y + order[2] * width);
  fourth.store(y + order[3] * width);
}

}  // namespace

// Per nonzero 10 or 12 bytes read, for all vectors together; per row and vector 8 of x read, 8 of y
// written. Four rows at a time, because the sum of one waits for its last addition, and eight of
// eight vectors have more registers than AVX2 has. The time of CRS where lengths vary: 0.7 to 0.9;
// where they do not, or x is far away, up to 1.8 (docs/notes/products.md).
template <class Value>
void SlicedRows<Value>::multiply_block(LocalIndex first, LocalIndex last, int width, const Value* x,
                                       Value* y) const {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    with_width(width, [&]<int constant>() __attribute__((always_inline)) {
      using Lanes = typename Simd::template Lanes<Value, constant>;
      for (LocalIndex row = first; row < last; row += window_rows) {
        const std::size_t window = window_of(row);
        const Value* values = values_.data() + offsets_[window];
        Value* const results = y + std::int64_t{row - first} * constant;
        const auto multiply_window = [&](auto columns,
                                         const Value* from) __attribute__((always_inline)) {
          for (LocalIndex chunk = row; chunk < window_end(row); chunk += chunk_rows) {
            const std::uint8_t* const lengths = lengths_.data() + (chunk - begin_);
            const std::uint8_t* const order = rows_.data() + (chunk - begin_);
            multiply_half_chunk<Lanes>(values, columns, lengths, order, from, results);
            auto second_half = columns;
            second_half.advance(rows_at_once);
            multiply_half_chunk<Lanes>(values + rows_at_once, second_half, lengths + rows_at_once,
                                       order + rows_at_once, from, results);
            const std::size_t entries = std::size_t{chunk_rows} * lengths[0];
            values += entries;
            columns.advance(entries);
          }
        };
        const Columns& place = windows_[window];
        const std::uint16_t* const words = columns_.data() + place.begin;
        if (place.least == wide)
          multiply_window(ColumnReader<true>{words}, x);
        else
          multiply_window(ColumnReader<false>{words}, x + std::int64_t{place.least} * constant);
      }
    });
  });
}

template void SlicedRows<double>::multiply_block(LocalIndex, LocalIndex, int, const double*,
                                                 double*) const;

}  // namespace weft::spmv
