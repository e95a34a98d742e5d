#include "spmv/matrix/shifted_rows.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/placement/compute_team.h"
#include "spmv/matrix/crs_kernel.h"
#include "spmv/matrix/split_matrix.h"

namespace weft::spmv {
namespace {

/// Row i has columns i + 3·j, j < `length`, of those that there are, without the last one where a
/// line of 40 rows ends; all values differ.
CrsMatrix rows_of_lines(LocalIndex row_count, LocalIndex length) {
  CrsMatrix rows;
  rows.row_count = row_count;
  rows.row_offsets =
      perfmodel::HugePageBuffer<std::int64_t>(static_cast<std::size_t>(row_count) + 1);
  std::vector<LocalIndex> columns;
  for (LocalIndex row = 0; row < row_count; ++row) {
    const LocalIndex count = row % 40 == 39 ? length - 1 : length;
    for (LocalIndex j = 0; j < count && row + 3 * j < row_count; ++j)
      columns.push_back(row + 3 * j);
    rows.row_offsets[static_cast<std::size_t>(row) + 1] = std::ssize(columns);
  }
  rows.columns = perfmodel::HugePageBuffer<LocalIndex>(columns.size());
  rows.values = perfmodel::HugePageBuffer<double>(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    rows.columns[k] = columns[k];
    rows.values[k] = 1.0 / (3.0 + static_cast<double>(k));
  }
  return rows;
}

std::vector<double> make_operand(LocalIndex count) {
  std::vector<double> x(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1 * static_cast<double>(i % 37) - 1.7;
  return x;
}

std::vector<double> crs_product(const CrsMatrix& rows, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(rows.row_count));
  multiply_crs(rows, 0, rows.row_count, x.data(), y.data());
  return y;
}

bool have_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double left, double right) {
    return std::bit_cast<std::uint64_t>(left) == std::bit_cast<std::uint64_t>(right);
  });
}

TEST_CASE("shifted rows of any length have the bits of CRS, and what is between them, too") {
  for (const LocalIndex length : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 27, 70}) {
    INFO(length << " entries a row");
    const CrsMatrix rows = rows_of_lines(1000, length);
    const std::vector<double> x = make_operand(1000);
    for (const LocalIndex begin : {0, 5}) {
      const auto shifted = ShiftedRows::find(rows, begin, 1000);
      REQUIRE(shifted);
      CHECK(shifted->shifted_row_count() > 500);
      const LocalIndex end = shifted->chunk_begin_before(1000);
      CHECK(end == 1000 - (1000 - begin) % 8);
      std::vector<double> y = crs_product(rows, x);
      const std::vector<double> expected = y;
      std::fill(y.begin() + begin + 8, y.begin() + end, -7.0);
      shifted->multiply(rows, begin + 8, end, x.data(), y.data());
      CHECK(have_same_bits(y, expected));
    }
  }
}

TEST_CASE("what is not finite stays in the rows that read it, and in values, too") {
  CrsMatrix rows = rows_of_lines(400, 5);
  rows.values[0] = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> x = make_operand(400);
  for (std::size_t i = 0; i < x.size(); i += 11) x[i] = std::numeric_limits<double>::infinity();
  const auto shifted = ShiftedRows::find(rows, 0, 400);
  REQUIRE(shifted);
  std::vector<double> y(400, -7.0);
  shifted->multiply(rows, 0, 400, x.data(), y.data());
  CHECK(have_same_bits(y, crs_product(rows, x)));
}

TEST_CASE(
    "rows are shifted where all columns are, eight times, and none is loaded beyond the end") {
  CHECK(ShiftedRows::find(rows_of_lines(24, 1), 0, 24)->shifted_row_count() == 16);
  CrsMatrix rows = rows_of_lines(64, 2);
  // Rows 0 … 31 and 40 … 55: 39 ends a line, and the last ones have fewer columns.
  CHECK(ShiftedRows::find(rows, 0, 64)->shifted_row_count() == 48);
  ++rows.columns[3];  // of row 1
  CHECK(ShiftedRows::find(rows, 0, 64)->shifted_row_count() == 40);
  CHECK_FALSE(ShiftedRows::find(rows, 0, 8));
  CHECK_FALSE(ShiftedRows::find(rows, 8, 15));  // no whole chunk
  CHECK(ShiftedRows::find(rows, 8, 16));
}

SplitMatrix split(CrsMatrix rows, const comm_thread::ComputeTeam& team, MatrixFormat format) {
  const LocalIndex row_count = rows.row_count;
  return {DistributedMatrix{.partition = RowPartition::by_rows(row_count, 1),
                            .rows = std::move(rows),
                            .halo_columns = {}},
          team, format};
}

TEST_CASE("shifted rows are chosen for grids, and new values are multiplied at once") {
  const comm_thread::ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  constexpr LocalIndex row_count = 4001;
  SplitMatrix matrix = split(rows_of_lines(row_count, 7), team, MatrixFormat::automatic);
  CHECK(matrix.format_name() == "CRS, shifted rows");
  const SplitMatrix plain = split(rows_of_lines(row_count, 7), team, MatrixFormat::crs);
  CHECK(plain.format_name() == "CRS");
  const double nonzeros = static_cast<double>(plain.matrix().rows.nonzero_count());
  CHECK(static_cast<double>(plain.matrix_bytes()) == 12 * nonzeros + 8 * row_count);
  CHECK(static_cast<double>(matrix.matrix_bytes()) < 9.7 * nonzeros);
  CHECK(static_cast<double>(matrix.matrix_bytes()) > 8.5 * nonzeros);

  const std::vector<double> x = make_operand(row_count);
  for (const double factor : {1.0, 3.0}) {
    matrix.update_values(team, [&](const comm_thread::TeamThread&, LocalIndex begin, LocalIndex end,
                                   std::span<double> values) {
      const auto& offsets = matrix.matrix().rows.row_offsets;
      for (auto k = offsets[static_cast<std::size_t>(begin)];
           k < offsets[static_cast<std::size_t>(end)]; ++k)
        values[static_cast<std::size_t>(k)] *= factor;
    });
    std::vector<double> y(row_count, -7.0);
    team.run([&](const comm_thread::TeamThread& thread) {
      matrix.multiply(RowSet::all, thread.index, x.data(), y.data(), nullptr);
    });
    CHECK(have_same_bits(y, crs_product(matrix.matrix().rows, x)));
  }
}

}  // namespace
}  // namespace weft::spmv
