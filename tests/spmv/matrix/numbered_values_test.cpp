#include "spmv/matrix/numbered_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/placement/compute_team.h"
#include "spmv/matrix/block_crs_kernel.h"
#include "spmv/matrix/crs_kernel.h"
#include "spmv/matrix/split_matrix.h"

namespace weft::spmv {
namespace numbers {
namespace {

constexpr LocalIndex row_count = 8000;  // 10 to 14 entries each

/// Row i has the columns i, i + 1, i + 4, i + 9, … modulo the number of rows, in ascending order.
/// `value`: of a row and a column.
template <class Value>
CrsMatrix make_rows(const Value& value) {
  CrsMatrix rows;
  rows.row_count = row_count;
  rows.row_offsets = perfmodel::HugePageBuffer<std::int64_t>(row_count + 1);
  std::vector<LocalIndex> columns;
  std::vector<double> values;
  for (LocalIndex row = 0; row < row_count; ++row) {
    std::vector<LocalIndex> of_row;
    for (LocalIndex j = 0; j < 10 + row % 7 % 5; ++j)
      of_row.push_back((row + j * j * 37) % row_count);
    std::ranges::sort(of_row);
    for (const LocalIndex column : of_row) {
      columns.push_back(column);
      values.push_back(value(row, column));
    }
    rows.row_offsets[static_cast<std::size_t>(row) + 1] = std::ssize(columns);
  }
  rows.columns = perfmodel::HugePageBuffer<LocalIndex>(columns.size());
  rows.values = perfmodel::HugePageBuffer<double>(columns.size());
  std::ranges::copy(columns, rows.columns.data());
  std::ranges::copy(values, rows.values.data());
  return rows;
}

double few_values(LocalIndex row, LocalIndex column) { return 1.0 / (3.0 + (row ^ column) % 61); }

std::vector<double> make_operand(std::size_t count) {
  std::vector<double> x(count);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1 * static_cast<double>(i % 37) - 1.7;
  return x;
}

/// What is no number may have any sign: which of two such factors a product returns depends on
/// their order in the instruction, which the compiler chooses.
bool have_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double left, double right) {
    return (std::isnan(left) && std::isnan(right)) ||
           std::bit_cast<std::uint64_t>(left) == std::bit_cast<std::uint64_t>(right);
  });
}

/// Products with 1 to 16 vectors, of rows 3 … row_count-1, compared with CRS.
void check_products(const CrsMatrix& rows, const NumberedValues& numbered) {
  for (const int width : {1, 2, 4, 8, 16}) {
    INFO(width << " vectors");
    const auto size = static_cast<std::size_t>(row_count) * static_cast<std::size_t>(width);
    const std::vector<double> x = make_operand(size);
    std::vector<double> y(size, -7.0);
    std::vector<double> expected(size, -7.0);
    if (width == 1) {
      multiply_crs(rows, 3, row_count, x.data(), expected.data());
      multiply_numbered(rows, numbered, 3, row_count, x.data(), y.data());
    } else {
      multiply_crs_block(rows, 3, row_count, width, x.data(), expected.data());
      multiply_numbered_block(rows, numbered, 3, row_count, width, x.data(), y.data());
    }
    CHECK(have_same_bits(y, expected));
  }
}

TEST_CASE("products with numbered values have the bits of CRS") {
  const CrsMatrix rows = make_rows(few_values);
  for (const LocalIndex begin : {0, 3}) {
    const auto numbered = NumberedValues::find(rows, begin, row_count);
    REQUIRE(numbered);
    CHECK(numbered->value_count() == 61);
    check_products(rows, *numbered);
  }
}

TEST_CASE("values are different where their bits are, and stay what they are if not finite") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double values[] = {0.0, -0.0, nan, infinity, -infinity, 5e-324, 1.0};
  const CrsMatrix rows = make_rows([&](LocalIndex row, LocalIndex column) {
    return row % 10 == 0 ? values[static_cast<std::size_t>(column % 7)] : values[column % 2];
  });
  const auto numbered = NumberedValues::find(rows, 0, row_count);
  REQUIRE(numbered);
  CHECK(numbered->value_count() == 7);
  check_products(rows, *numbered);
}

TEST_CASE("nothing is numbered where values are too many or rows too few") {
  // As many as there may be, and one more, which no sample of the rows has.
  for (const int excess : {0, 1}) {
    const CrsMatrix rows = make_rows([&](LocalIndex row, LocalIndex column) {
      if (row == 5555 && column != row) return excess == 1 ? -3.0 : 1.0;
      return 1.0 + (row == column ? 0 : (13 * row + column) % 4096);
    });
    const auto numbered = NumberedValues::find(rows, 0, row_count);
    CHECK(numbered.has_value() == (excess == 0));
    if (numbered) CHECK(numbered->value_count() == NumberedValues::most_values);
  }
  const CrsMatrix all_different = make_rows(
      [](LocalIndex row, LocalIndex column) { return 1.0 / (1.0 + row + 9000 * column); });
  CHECK_FALSE(NumberedValues::find(all_different, 0, row_count));
  const CrsMatrix rows = make_rows(few_values);
  CHECK_FALSE(NumberedValues::find(rows, 0, row_count / 2));
  CHECK_FALSE(NumberedValues::find(rows, 0, 0));
}

SplitMatrix split(CrsMatrix rows, const comm_thread::ComputeTeam& team, MatrixFormat format) {
  return {DistributedMatrix{.partition = RowPartition::by_rows(row_count, 1),
                            .rows = std::move(rows),
                            .halo_columns = {}},
          team, format};
}

TEST_CASE("numbers are read where there are few values, and made anew for new values") {
  const comm_thread::ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  SplitMatrix matrix = split(make_rows(few_values), team, MatrixFormat::automatic);
  const SplitMatrix plain = split(make_rows(few_values), team, MatrixFormat::crs);
  CHECK(matrix.format_name() == "CRS, 61 values");
  CHECK(plain.format_name() == "CRS");
  const auto nonzeros = plain.matrix().rows.nonzero_count();
  CHECK(plain.matrix_bytes() == 12 * nonzeros + 8 * row_count);
  CHECK(matrix.matrix_bytes() == 6 * nonzeros + 8 * row_count + 8 * 61);

  const std::vector<double> x = make_operand(static_cast<std::size_t>(row_count) * 4);
  const char* const names[] = {"CRS, 61 values", "CRS", "CRS, 1 value", "CRS, 2 values"};
  for (int step = 0; step < 4; ++step) {
    if (step > 0)
      matrix.update_values(team, [&](const comm_thread::TeamThread&, LocalIndex, LocalIndex,
                                     std::span<double> to) {
        const CrsMatrix& rows = matrix.matrix().rows;
        std::size_t k = 0;
        for (LocalIndex row = 0; row < row_count; ++row)
          for (; static_cast<std::int64_t>(k) < rows.row_offsets[static_cast<std::size_t>(row) + 1];
               ++k)
            to[k] = step == 1                ? 1.0 / (1.0 + static_cast<double>(k))
                    : rows.columns[k] != row ? -1.0
                    : step == 2              ? -1.0
                                             : 14.0;
      });
    CHECK(matrix.format_name() == names[step]);
    std::vector<double> y(x.size());
    std::vector<double> expected(x.size());
    multiply_crs_block(matrix.matrix().rows, 0, row_count, 4, x.data(), expected.data());
    team.run([&](const comm_thread::TeamThread& thread) {
      matrix.in_due_form(RowSet::all, thread.index, 4, [&] {
        matrix.multiply_block(thread.index, 0, row_count, 4, x.data(), y.data());
      });
    });
    CHECK(have_same_bits(y, expected));
    y.assign(row_count, 0);
    expected = y;
    multiply_crs(matrix.matrix().rows, 0, row_count, x.data(), expected.data());
    team.run([&](const comm_thread::TeamThread& thread) {
      matrix.multiply(RowSet::all, thread.index, x.data(), y.data(), nullptr);
    });
    CHECK(have_same_bits(y, expected));
  }
}

}  // namespace
}  // namespace numbers
}  // namespace weft::spmv
