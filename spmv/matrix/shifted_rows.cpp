#include "spmv/matrix/shifted_rows.h"

#include <algorithm>
#include <array>

#include "perfmodel/simd.h"
#include "perfmodel/transpose.h"
#include "spmv/matrix/prefetch.h"

namespace weft::spmv {
namespace {

constexpr LocalIndex rows_of_chunk = ShiftedRows::chunk_rows;
/// The search ends where shifted chunks have so many rows fewer than half of those looked at.
constexpr std::int64_t patience = 4096;
/// What is loaded beyond the last entry of a chunk at most.
constexpr std::int64_t loaded_beyond = 7;

/// True if eight rows from `begin` on are of this kind, and not empty.
bool are_shifted(const CrsMatrix& rows, LocalIndex begin) {
  const std::int64_t* const offsets = rows.row_offsets.data() + begin;
  const std::int64_t length = offsets[1] - offsets[0];
  if (length == 0 || offsets[rows_of_chunk] + loaded_beyond > rows.nonzero_count()) return false;
  for (LocalIndex row = 1; row < rows_of_chunk; ++row)
    if (offsets[row + 1] - offsets[row] != length) return false;
  const LocalIndex* const columns = rows.columns.data() + offsets[0];
  LocalIndex others = 0;  // no early end: that would not be vectorized
  for (std::int64_t k = 0; k < (rows_of_chunk - 1) * length; ++k)
    others |= (columns[k + length] - columns[k]) ^ 1;
  return others == 0;
}

/// Adds to the sums of eight rows of `length` entries those of `count` columns from `slot` on.
template <std::size_t count, class Lane8>
[[gnu::always_inline]] inline void add_columns(const double* values, std::int64_t length,
                                               const LocalIndex* columns, std::int64_t slot,
                                               const double* x, Lane8& sum) {
  std::array<Lane8, 8> entries;
#pragma GCC unroll 8
  for (std::size_t lane = 0; lane < 8; ++lane)
    entries[lane] = Lane8::load(values + slot + static_cast<std::int64_t>(lane) * length);
  perfmodel::transpose(entries);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t place = slot + static_cast<std::int64_t>(i);
    prefetch(values + 8 * place);
    sum += entries[i] * Lane8::load(x + columns[place]);
  }
}

/// Eight rows of `length` entries, of which the first one has `columns`. A switch, because seven
/// comparisons in its place took 2 to 4 % longer (poisson3d:200).
template <class Lane8>
[[gnu::always_inline]] inline void multiply_shifted(const double* values, const LocalIndex* columns,
                                                    std::int64_t length, const double* x,
                                                    double* y) {
  Lane8 sum{};
  std::int64_t slot = 0;
  for (; slot + 8 <= length; slot += 8) add_columns<8>(values, length, columns, slot, x, sum);
  switch (length - slot) {
    case 1:
      add_columns<1>(values, length, columns, slot, x, sum);
      break;
    case 2:
      add_columns<2>(values, length, columns, slot, x, sum);
      break;
    case 3:
      add_columns<3>(values, length, columns, slot, x, sum);
      break;
    case 4:
      add_columns<4>(values, length, columns, slot, x, sum);
      break;
    case 5:
      add_columns<5>(values, length, columns, slot, x, sum);
      break;
    case 6:
      add_columns<6>(values, length, columns, slot, x, sum);
      break;
    case 7:
      add_columns<7>(values, length, columns, slot, x, sum);
      break;
    default:
      break;
  }
  sum.store(y);
}

/// Eight rows of any columns: `words` has their lengths, then the columns. Returns how many entries
/// they have.
[[gnu::always_inline]] inline std::int64_t multiply_others(const double* values,
                                                           const LocalIndex* words, const double* x,
                                                           double* y) {
  const LocalIndex* const columns = words + rows_of_chunk;
  std::int64_t k = 0;
  for (LocalIndex row = 0; row < rows_of_chunk; ++row) {
    double sum = 0;
    for (const std::int64_t end = k + words[row]; k < end; ++k) {
      if (k % 8 == 0) prefetch(values + k);
      sum += values[k] * x[columns[k]];
    }
    y[row] = sum;
  }
  return k;
}

}  // namespace

std::optional<ShiftedRows> ShiftedRows::find(const CrsMatrix& rows, LocalIndex begin,
                                             LocalIndex end) {
  ShiftedRows found(begin);
  const auto chunk_count = static_cast<std::size_t>((end - begin) / chunk_rows);
  found.starts_.reserve(chunk_count + 1);
  found.starts_.push_back(0);
  found.is_shifted_.reserve(chunk_count);
  for (LocalIndex row = begin; row + chunk_rows <= end; row += chunk_rows) {
    if (found.shifted_row_count_ + patience < (row - begin) / 2) return std::nullopt;
    const bool shifted = are_shifted(rows, row);
    const std::int64_t* const offsets = rows.row_offsets.data() + row;
    found.is_shifted_.push_back(shifted ? 1 : 0);
    found.shifted_row_count_ += shifted ? chunk_rows : 0;
    found.starts_.push_back(
        found.starts_.back() +
        (shifted ? offsets[1] - offsets[0] : chunk_rows + offsets[chunk_rows] - offsets[0]));
  }
  if (2 * found.shifted_row_count_ <= end - begin) return std::nullopt;
  found.store(rows);
  return found;
}

void ShiftedRows::store(const CrsMatrix& rows) {
  words_ = perfmodel::HugePageBuffer<LocalIndex>(static_cast<std::size_t>(starts_.back()));
  std::size_t to = 0;
  LocalIndex row = begin_;
  for (const std::uint8_t shifted : is_shifted_) {
    const std::int64_t* const offsets = rows.row_offsets.data() + row;
    if (!shifted)
      for (LocalIndex i = 0; i < chunk_rows; ++i)
        words_[to++] = static_cast<LocalIndex>(offsets[i + 1] - offsets[i]);
    for (auto k = offsets[0]; k < offsets[shifted ? 1 : chunk_rows]; ++k)
      words_[to++] = rows.columns[static_cast<std::size_t>(k)];
    row += chunk_rows;
  }
}

LocalIndex ShiftedRows::chunk_begin_from(LocalIndex row) const {
  return chunk_begin_before(row + chunk_rows - 1);
}

LocalIndex ShiftedRows::chunk_begin_before(LocalIndex row) const {
  return row - (row - begin_) % chunk_rows;
}

std::int64_t ShiftedRows::bytes() const {
  return starts_.back() * static_cast<std::int64_t>(sizeof(LocalIndex)) +
         std::ssize(starts_) * static_cast<std::int64_t>(sizeof(std::int64_t)) +
         std::ssize(is_shifted_);
}

// Per nonzero 8.5 bytes read of shifted chunks, 12 of others; per row 1.2 bytes, of others 4 more,
// 8 of x read, 8 of y written (16 with write-allocate). 2 flops per nonzero, and three shuffles for
// eight.
void ShiftedRows::multiply(const CrsMatrix& rows, LocalIndex first, LocalIndex last,
                           const double* x, double* y) const {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    const double* values = rows.values.data() + rows.row_offsets[static_cast<std::size_t>(first)];
    std::size_t chunk = chunk_of(first);
    const LocalIndex* words = words_.data() + starts_[chunk];
    for (LocalIndex row = first; row < last; row += chunk_rows, ++chunk) {
      const LocalIndex* const end = words_.data() + starts_[chunk + 1];
      if (is_shifted_[chunk]) {
        multiply_shifted<typename Simd::Lane8>(values, words, end - words, x, y + row);
        values += chunk_rows * (end - words);
      } else {
        values += multiply_others(values, words, x, y + row);
      }
      words = end;
    }
  });
}

}  // namespace weft::spmv
