#include "spmv/matrix/sliced_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "perfmodel/simd.h"
#include "spmv/matrix/block_group.h"
#include "spmv/matrix/column_words.h"
#include "spmv/matrix/prefetch.h"

namespace weft::spmv {
namespace {

constexpr LocalIndex window_rows = SlicedRows<double>::window_rows;
constexpr std::int64_t longest_row = 255;
/// Of rows, in sequence, whose length differs from that of the one before. A mesh of tetrahedra:
/// 0.8; a grid of 15 neighbours with 0.3, 1, 3 and 30 % of them taken out: 0.09, 0.23, 0.48, 0.83,
/// where this form takes 0.95, 0.90, 0.73 and 0.5 of the time of CRS; elasticity: 0.16 and 0.92.
constexpr double least_change_fraction = 0.25;

template <class Value>
std::int64_t length_of(const CrsMatrixOf<Value>& rows, LocalIndex row) {
  return rows.row_offsets[static_cast<std::size_t>(row) + 1] -
         rows.row_offsets[static_cast<std::size_t>(row)];
}

/// The lengths of eight rows as numbers to compare with. SSE2 compares no integers of 64 bits, but
/// doubles; with AVX2 GCC 12 would make doubles of bytes one by one.
template <class Simd>
[[gnu::always_inline]] inline auto lengths_in_lanes(const std::uint8_t* lengths) {
  if constexpr (Simd::register_bytes == 16) {
    return Simd::Lane8::load_converted(lengths);
  } else {
    using Words = typename Simd::template Lanes<unsigned long long, 8>;
    static_assert(std::endian::native == std::endian::little);
    unsigned long long all = 0;
    std::memcpy(&all, lengths, sizeof all);
    alignas(64) static constexpr unsigned long long shifts[] = {0, 8, 16, 24, 32, 40, 48, 56};
    return (((Words{} + all) >> Words::load(shifts)) & 255ULL).template bits_as<long long>();
  }
}

/// The columns of a window, and its rows, which masked lanes have for columns.
struct Extent {
  LocalIndex least;
  LocalIndex most;
};

template <class Value>
Extent extent_of(const CrsMatrixOf<Value>& rows, LocalIndex begin) {
  Extent extent{begin, begin + window_rows - 1};
  const auto first = rows.row_offsets[static_cast<std::size_t>(begin)];
  const auto last = rows.row_offsets[static_cast<std::size_t>(begin) + window_rows];
  for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k) {
    extent.least = std::min(extent.least, rows.columns[k]);
    extent.most = std::max(extent.most, rows.columns[k]);
  }
  return extent;
}

/// True if all rows of the window need the halo, or none does, and none is too long.
template <class Value>
bool can_store(const CrsMatrixOf<Value>& rows, LocalIndex begin) {
  bool is_boundary = false;
  for (LocalIndex row = begin; row < begin + window_rows; ++row) {
    if (length_of(rows, row) > longest_row) return false;
    const auto* const first = rows.columns.data() + rows.row_offsets[static_cast<std::size_t>(row)];
    const bool needs_halo = std::any_of(first, first + length_of(rows, row),
                                        [&](auto column) { return column >= rows.row_count; });
    if (row > begin && needs_halo != is_boundary) return false;
    is_boundary = needs_halo;
  }
  return true;
}

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

template <class Value>
bool SlicedRows<Value>::pays(const Matrix& rows, LocalIndex begin, LocalIndex end) {
  std::int64_t changes = 0;
  for (LocalIndex row = begin + 1; row < end; ++row)
    changes += length_of(rows, row) != length_of(rows, row - 1);
  return static_cast<double>(changes) >= least_change_fraction * (end - begin);
}

template <class Value>
SlicedRows<Value>::SlicedRows(const Matrix& rows, LocalIndex begin, LocalIndex end)
    : begin_(begin) {
  choose_windows(rows, end);
  if (offsets_.back() == 0) return;
  // What is fetched ahead is inside.
  constexpr auto room = static_cast<std::size_t>(prefetch_distance);
  columns_ =
      perfmodel::HugePageBuffer<std::uint16_t>(static_cast<std::size_t>(word_count_) + 2 * room);
  values_ = perfmodel::HugePageBuffer<Value>(static_cast<std::size_t>(offsets_.back()) + room);
  fill_columns(rows);
  update_values(rows);
}

template <class Value>
void SlicedRows<Value>::choose_windows(const Matrix& rows, LocalIndex end) {
  const auto window_count = static_cast<std::size_t>((end - begin_) / window_rows);
  offsets_.assign(window_count + 1, 0);
  windows_.resize(window_count);
  lengths_.resize(window_count * window_rows);
  rows_.resize(window_count * window_rows);
  for (std::size_t window = 0; window < window_count; ++window) {
    const std::size_t place = window * window_rows;
    const LocalIndex begin = begin_ + static_cast<LocalIndex>(place);
    offsets_[window + 1] = offsets_[window];
    if (!can_store(rows, begin)) continue;
    std::array<std::uint8_t, longest_row + 2>
        starts{};  // of the rows of each length, longest first
    for (LocalIndex row = 0; row < window_rows; ++row)
      ++starts[static_cast<std::size_t>(longest_row - length_of(rows, begin + row)) + 1];
    for (std::size_t i = 1; i < starts.size(); ++i)
      starts[i] = static_cast<std::uint8_t>(starts[i] + starts[i - 1]);
    for (LocalIndex row = 0; row < window_rows; ++row) {
      const std::int64_t length = length_of(rows, begin + row);
      const std::size_t to = place + starts[static_cast<std::size_t>(longest_row - length)]++;
      rows_[to] = static_cast<std::uint8_t>(row);
      lengths_[to] = static_cast<std::uint8_t>(length);
      nonzero_count_ += length;
    }
    for (std::size_t chunk = 0; chunk < window_rows; chunk += chunk_rows)
      offsets_[window + 1] += std::int64_t{chunk_rows} * lengths_[place + chunk];
    row_count_ += is_stored(window) ? window_rows : 0;
    const auto [least, most] = extent_of(rows, begin);
    const bool is_wide = !fit_one_word(least, most);
    windows_[window] = {word_count_, is_wide ? wide : least};
    word_count_ += (is_wide ? 2 : 1) * (offsets_[window + 1] - offsets_[window]);
  }
}

template <class Value>
void SlicedRows<Value>::fill_columns(const Matrix& rows) {
  for (std::size_t window = 0; window + 1 < offsets_.size(); ++window) {
    if (!is_stored(window)) continue;
    std::uint16_t* const words = columns_.data() + windows_[window].begin;
    const LocalIndex least = windows_[window].least;
    const auto store = [&](std::size_t slot, LocalIndex column) {
      if (least == wide)
        store_column<true>(words, slot, column, 0);
      else
        store_column<false>(words, slot, column, least);
    };
    std::size_t to = 0;
    for (std::size_t chunk = 0; chunk < window_rows; chunk += chunk_rows) {
      const std::size_t place = window * window_rows + chunk;
      const std::size_t slots = lengths_[place];
      for (std::size_t lane = 0; lane < chunk_rows; ++lane) {
        const LocalIndex row = row_at(place + lane);
        const auto from = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(row)]);
        const std::size_t length = lengths_[place + lane];
        for (std::size_t slot = 0; slot < length; ++slot)
          store(to + slot * chunk_rows + lane, rows.columns[from + slot]);
        for (std::size_t slot = length; slot < slots; ++slot)  // masked, but it is loaded
          store(to + slot * chunk_rows + lane, row);
      }
      to += slots * chunk_rows;
    }
  }
}

template <class Value>
void SlicedRows<Value>::update_values(const Matrix& rows) {
  for (std::size_t window = 0; window + 1 < offsets_.size(); ++window) {
    if (!is_stored(window)) continue;
    Value* to = values_.data() + offsets_[window];
    for (std::size_t chunk = 0; chunk < window_rows; chunk += chunk_rows) {
      const std::size_t place = window * window_rows + chunk;
      std::array<const Value*, chunk_rows> from{};
      for (std::size_t lane = 0; lane < chunk_rows; ++lane)
        from[lane] =
            rows.values.data() + rows.row_offsets[static_cast<std::size_t>(row_at(place + lane))];
      for (std::size_t slot = 0; slot < lengths_[place]; ++slot, to += chunk_rows)
        for (std::size_t lane = 0; lane < chunk_rows; ++lane)
          to[lane] = slot < lengths_[place + lane] ? from[lane][slot] : 0;
    }
  }
}

template <class Value>
LocalIndex SlicedRows<Value>::next_stored(LocalIndex row, LocalIndex end) const {
  const auto into_window = (row - begin_) % window_rows;
  LocalIndex begin = into_window == 0 ? row : row - into_window + window_rows;
  while (window_end(begin) <= end && !is_stored(window_of(begin))) begin += window_rows;
  return window_end(begin) <= end ? begin : end;
}

template <class Value>
LocalIndex SlicedRows<Value>::stored_end(LocalIndex row, LocalIndex end) const {
  while (window_end(row) <= end && is_stored(window_of(row))) row += window_rows;
  return row;
}

template <class Value>
std::int64_t SlicedRows<Value>::bytes() const {
  const std::int64_t per_window = 8 + sizeof(Columns) + 2 * std::int64_t{window_rows};
  return std::int64_t{sizeof(Value)} * offsets_.back() + 2 * word_count_ +
         row_count_ / window_rows * per_window;
}

// Per nonzero 10 or 12 bytes read, 12 in CRS; per row 2.4 bytes of order, 8 of x read, 8 of y
// written (16 with write-allocate). 2 flops per nonzero. A gather instruction takes longer than
// eight loads on AMD. To fetch x ahead through the columns, 32 to 256 entries, took 1.0 to 1.2
// times the time.
template <class Value>
void SlicedRows<Value>::multiply(LocalIndex first, LocalIndex last, const Value* x,
                                 Value* y) const {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    using Lane8 = typename Simd::template Lanes<Value, chunk_rows>;
    const Value* values = values_.data() + offsets_[window_of(first)];
    const auto multiply_window = [&](LocalIndex begin, auto columns,
                                     const Value* from) __attribute__((always_inline)) {
      const auto add_to = [&](Lane8& total) __attribute__((always_inline)) {
        prefetch(values);
        prefetch(columns.words);
        total += Lane8::load(values).times_each([&](int lane) __attribute__((always_inline)) {
          return from[columns[static_cast<std::size_t>(lane)]];
        });
        values += chunk_rows;
        columns.advance(chunk_rows);
      };
      for (LocalIndex row = begin; row < window_end(begin); row += chunk_rows) {
        const std::uint8_t* const lengths = lengths_.data() + (row - begin_);
        Lane8 sum{};
        const unsigned shortest = lengths[chunk_rows - 1];
        const unsigned longest = lengths[0];
        unsigned slot = 0;
        for (; slot < shortest; ++slot) add_to(sum);
        if (slot < longest) {
          const auto length = lengths_in_lanes<Simd>(lengths);
          using Number = typename std::remove_const_t<decltype(length)>::Element;
          for (; slot < longest; ++slot) {
            Lane8 next = sum;
            add_to(next);
            sum = select(length > static_cast<Number>(slot), next, sum);
          }
        }
        const std::uint8_t* const order = rows_.data() + (row - begin_);
        perfmodel::unrolled<chunk_rows>(
            [&](auto lane) __attribute__((always_inline)) { y[begin + order[lane]] = sum[lane]; });
      }
    };
    for (LocalIndex row = first; row < last; row += window_rows) {
      const Columns& place = windows_[window_of(row)];
      const std::uint16_t* const columns = columns_.data() + place.begin;
      if (place.least == wide)
        multiply_window(row, ColumnReader<true>{columns}, x);
      else
        multiply_window(row, ColumnReader<false>{columns}, x + place.least);
    }
  });
}

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

template class SlicedRows<double>;

}  // namespace weft::spmv
