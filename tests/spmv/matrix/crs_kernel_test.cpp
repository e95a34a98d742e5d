#include "spmv/matrix/crs_kernel.h"

#include <vector>

#include <catch2/catch.hpp>

#include "spmv/problems/random_numbers.h"

namespace weft::spmv {
namespace {

/// The first rows of a matrix, `per_row` entries each, in columns within `reach`; the others are
/// empty, and their offsets zero.
CrsMatrix first_rows(LocalIndex row_count, LocalIndex filled, LocalIndex per_row,
                     LocalIndex reach) {
  const auto entries = static_cast<std::size_t>(filled) * static_cast<std::size_t>(per_row);
  CrsMatrix matrix{.row_count = row_count,
                   .row_offsets = perfmodel::HugePageBuffer<std::int64_t>(
                       static_cast<std::size_t>(row_count) + 1),
                   .columns = perfmodel::HugePageBuffer<LocalIndex>(entries),
                   .values = perfmodel::HugePageBuffer<double>(entries)};
  for (std::size_t k = 0; k < entries; ++k) {
    const std::uint64_t bits = random_bits(7, static_cast<GlobalIndex>(k));
    matrix.columns[k] = static_cast<LocalIndex>(bits % static_cast<std::uint64_t>(reach));
    matrix.values[k] = static_cast<double>(bits >> 40) - 8e6;
  }
  for (LocalIndex row = 0; row <= filled; ++row)
    matrix.row_offsets[static_cast<std::size_t>(row)] = std::int64_t{row} * per_row;
  matrix.row_offsets[static_cast<std::size_t>(row_count)] = std::int64_t{filled} * per_row;
  return matrix;
}

}  // namespace

TEST_CASE("rows are summed in order, whether entries of x are near or all over the memory") {
  constexpr LocalIndex rows = 5'000'000;
  constexpr LocalIndex filled = 1200;
  for (const LocalIndex reach : {1000, rows})
    for (const LocalIndex per_row : {1, 7, 8, 21}) {
      CAPTURE(reach, per_row);
      const CrsMatrix matrix = first_rows(rows, filled, per_row, reach);
      perfmodel::HugePageBuffer<double> x(rows);
      for (const LocalIndex column : matrix.columns.span())
        x[static_cast<std::size_t>(column)] = 1 / (1.0 + column);
      std::vector<double> y(filled);
      multiply_crs(matrix, 0, filled, x.data(), y.data());
      for (std::size_t row = 0; row < y.size(); ++row) {
        double sum = 0;
        for (auto k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k)
          sum += matrix.values[static_cast<std::size_t>(k)] *
                 x[static_cast<std::size_t>(matrix.columns[static_cast<std::size_t>(k)])];
        CHECK(y[row] == sum);
      }
    }
}

}  // namespace weft::spmv
