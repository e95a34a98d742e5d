#pragma once

#include <cstdint>
#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// Rows of varying length stored for eight to be multiplied at once: SELL-C-σ with C = 8 and σ
/// = 64.
///
/// A window of 64 rows is put in descending order of length. Eight rows in that order form a chunk,
/// which stores first entry next to first entry, then the second ones, and so on:
///
///     6×6 example, chunk of 3 rows          slots, one lane a row
///     row 3:  a b c                         a d g
///     row 4:  d e                           b e h
///     row 5:  g h                           c · ·  (masked)
///
/// A masked lane is left out of the sum and entries keep their order, so the bits are those of
/// multiply_crs. What is gained: the end of a row in CRS is a branch that the processor does not
/// foresee where lengths vary, and the additions of a row wait for each other.
/// Windows in which some rows need the halo and others do not, that have a row of more than 255
/// entries, or that are not whole, are left to the caller.
/// Columns are 16-bit distances from the least one of their window where they fit.
/// Memory: 10 bytes per slot, 12 where distances are long, 1.01 to 1.07 slots per nonzero, beside
/// the matrix in CRS; and 2.4 bytes a row.
/// `Value`: double.
/// Source: Kreutzer et al., SIAM J. Sci. Comput. 36 (2014). Measured: docs/notes/products.md.
template <class Value>
class SlicedRows {
 public:
  using Matrix = CrsMatrixOf<Value>;
  static constexpr LocalIndex chunk_rows = 8;
  static constexpr LocalIndex window_rows = 64;

  /// True if rows begin … end-1 of `rows` are multiplied sooner in this form: where the length of
  /// at least a quarter of them differs from that of the row before.
  static bool pays(const Matrix& rows, LocalIndex begin, LocalIndex end);

  /// Stores the windows among rows begin … end-1 that can be, counted from `begin`.
  /// Thread: the one that will multiply them, which touches their pages first.
  SlicedRows(const Matrix& rows, LocalIndex begin, LocalIndex end);

  /// New values of the same entries. Thread: as of the constructor.
  void update_values(const Matrix& rows);

  /// The first row from `row` on, before `end`, of a stored window that ends by `end`; else `end`.
  LocalIndex next_stored(LocalIndex row, LocalIndex end) const;

  /// The end of the stored windows that follow each other from `row`, which is the first of one.
  LocalIndex stored_end(LocalIndex row, LocalIndex end) const;

  /// y_i = Σ_j a_ij·x_j for rows first … last-1, stored windows.
  /// Shape: x: [row_count + halo_count], y: [row_count].
  void multiply(LocalIndex first, LocalIndex last, const Value* x, Value* y) const;

  /// Y = A·X for `width` vectors at once, as multiply_crs_block and with its bits. Shape: x:
  /// [(row_count + halo_count) · width]; y: [(last - first) · width], of row `first` first.
  /// `width`: 2, 4 or 8.
  void multiply_block(LocalIndex first, LocalIndex last, int width, const Value* x, Value* y) const;

  /// Of the stored rows: how many there are, and their nonzeros.
  std::int64_t row_count() const { return row_count_; }
  std::int64_t nonzero_count() const { return nonzero_count_; }

  /// Bytes that a product with the stored rows reads besides x.
  std::int64_t bytes() const;

 private:
  /// Where the columns of a window are.
  struct Columns {
    std::int64_t begin = 0;  // in `columns_`
    LocalIndex least = wide;  // of which they are the distances; `wide`: two words each
  };
  static constexpr LocalIndex wide = -1;

  void choose_windows(const Matrix& rows, LocalIndex end);
  void fill_columns(const Matrix& rows);

  /// The row that is stored at a place of `rows_`.
  LocalIndex row_at(std::size_t place) const {
    return begin_ + static_cast<LocalIndex>(place / window_rows * window_rows) + rows_[place];
  }
  std::size_t window_of(LocalIndex row) const {
    return static_cast<std::size_t>((row - begin_) / window_rows);
  }
  bool is_stored(std::size_t window) const { return offsets_[window + 1] > offsets_[window]; }
  LocalIndex window_end(LocalIndex row) const { return row + window_rows; }

  LocalIndex begin_ = 0;
  std::int64_t row_count_ = 0;
  std::int64_t nonzero_count_ = 0;
  std::vector<std::int64_t> offsets_;  // [window_count + 1], the first slot entry of each
  std::vector<Columns> windows_;  // [window_count]
  std::int64_t word_count_ = 0;  // of all columns
  std::vector<std::uint8_t> lengths_;  // [window_count · window_rows], in the order of storage
  std::vector<std::uint8_t> rows_;  // the same, row in its window
  perfmodel::HugePageBuffer<std::uint16_t> columns_;  // [word_count_ + what is fetched ahead]
  perfmodel::HugePageBuffer<Value> values_;  // [slot entries + what is fetched ahead]
};

extern template class SlicedRows<double>;

}  // namespace weft::spmv
