#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// Columns of rows in CRS where most rows have those of the row before, one further: a grid that is
/// numbered line by line, whatever its values.
///
///     rows 8 … 15    columns  0 8 9 16 | 1 9 10 17 | 2 10 11 18 | …      stored: 0 8 9 16
///
/// Of eight such rows, a shifted chunk, the columns of the first one are enough, and all eight are
/// multiplied at once. Of other chunks, where a line ends, all columns are stored, behind the
/// lengths of the eight rows. The values stay where they are in CRS. Entries keep their order in
/// the sums, so the bits are those of multiply_crs.
/// Memory: 1.2 bytes per row; of shifted chunks half a byte per nonzero, of others 4 bytes per
/// nonzero and per row.
class ShiftedRows {
 public:
  static constexpr LocalIndex chunk_rows = 8;

  /// Of rows begin … end-1; nothing where fewer than half of them are in shifted chunks.
  /// Thread: the one that will multiply them. Takes one to four times as long as a product.
  static std::optional<ShiftedRows> find(const CrsMatrix& rows, LocalIndex begin, LocalIndex end);

  /// The first row of the first chunk that begins at `row` or after it.
  LocalIndex chunk_begin_from(LocalIndex row) const;
  /// The first row of the last chunk that begins at `row` or before it.
  LocalIndex chunk_begin_before(LocalIndex row) const;

  /// y_i = Σ_j a_ij·x_j for rows first … last-1, whole chunks of the rows that were looked through.
  /// Shape: x: [row_count + halo_count], y: [row_count].
  void multiply(const CrsMatrix& rows, LocalIndex first, LocalIndex last, const double* x,
                double* y) const;

  /// Rows in shifted chunks.
  std::int64_t shifted_row_count() const { return shifted_row_count_; }
  /// Bytes that a product reads instead of columns and row offsets.
  std::int64_t bytes() const;

 private:
  explicit ShiftedRows(LocalIndex begin) : begin_(begin) {}

  void store(const CrsMatrix& rows);
  std::size_t chunk_of(LocalIndex row) const {
    return static_cast<std::size_t>((row - begin_) / chunk_rows);
  }

  LocalIndex begin_;
  std::int64_t shifted_row_count_ = 0;
  std::vector<std::int64_t> starts_;  // [chunk_count + 1], in `words_`
  std::vector<std::uint8_t> is_shifted_;  // [chunk_count]
  perfmodel::HugePageBuffer<LocalIndex> words_;  // columns, or eight lengths and columns
};

}  // namespace weft::spmv
