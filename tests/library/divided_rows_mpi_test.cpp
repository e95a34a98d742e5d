// Rows in two blocks of a caller, against the same rows in one.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/library/tridiagonal.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

constexpr std::int64_t row_count = 5000;

Job make_job() {
  return Job(MPI_COMM_WORLD, {.threads = thread_count(), .pinning = Pinning::keep});
}

/// Rows in two blocks, with what they are spans of.
template <class Index>
struct Blocks {
  explicit Blocks(const TridiagonalRows& rows) : first_row(rows.first_row) {
    for (const std::int64_t column : rows.columns)
      if (!is_own(rows, column)) columns_of_others.push_back(static_cast<Index>(column));
    std::sort(columns_of_others.begin(), columns_of_others.end());
    columns_of_others.erase(std::unique(columns_of_others.begin(), columns_of_others.end()),
                            columns_of_others.end());
    for (std::size_t row = 0; row < rows.count(); ++row) {
      for (auto k = static_cast<std::size_t>(rows.offsets[row]);
           k < static_cast<std::size_t>(rows.offsets[row + 1]); ++k)
        add(rows, rows.columns[k], rows.values[k]);
      own_offsets.push_back(static_cast<Index>(own_columns.size()));
      other_offsets.push_back(static_cast<Index>(other_columns.size()));
    }
  }

  DividedRows<Index> rows() const {
    return {first_row,
            {own_offsets, own_columns, own_values},
            {other_offsets, other_columns, other_values},
            columns_of_others};
  }

  std::int64_t first_row;
  std::vector<Index> own_offsets{0};
  std::vector<Index> own_columns;
  std::vector<double> own_values;
  std::vector<Index> other_offsets{0};
  std::vector<Index> other_columns;
  std::vector<double> other_values;
  std::vector<Index> columns_of_others;

 private:
  static bool is_own(const TridiagonalRows& rows, std::int64_t column) {
    return column >= rows.first_row && column < rows.end_row;
  }
  void add(const TridiagonalRows& rows, std::int64_t column, double value) {
    if (is_own(rows, column)) {
      own_columns.push_back(static_cast<Index>(column - first_row));
      own_values.push_back(value);
      return;
    }
    const auto place = std::lower_bound(columns_of_others.begin(), columns_of_others.end(), column);
    other_columns.push_back(static_cast<Index>(place - columns_of_others.begin()));
    other_values.push_back(value);
  }
};

using IsZero = std::function<bool(std::int64_t row, std::int64_t column)>;

/// Of `diagonal`, with zeros where one is wanted.
TridiagonalRows make_rows(const Job& job, double diagonal, const IsZero& is_zero) {
  TridiagonalRows rows(row_count, job.rank(), job.size(), diagonal);
  for (std::size_t row = 0; row < rows.count(); ++row)
    for (auto k = static_cast<std::size_t>(rows.offsets[row]);
         k < static_cast<std::size_t>(rows.offsets[row + 1]); ++k)
      if (is_zero(rows.first_row + static_cast<std::int64_t>(row), rows.columns[k]))
        rows.values[k] = 0;
  return rows;
}

/// A few rows of every block, near the places where ranks are cut, too.
bool is_far(std::int64_t row, std::int64_t column) { return (row - column) % 50 == 0; }
bool is_zero_at_first(std::int64_t row, std::int64_t column) {
  return row != column && is_far(row, column) && (row + column) / 2 % 3 != 0;
}
bool is_zero_then(std::int64_t row, std::int64_t column) {
  return row != column && is_far(row, column) && (row + column) / 2 % 3 != 1;
}
bool is_never_zero(std::int64_t, std::int64_t) { return false; }

/// What a matrix does, all of it with the bits.
struct Deeds {
  std::int64_t nonzero_count;
  std::vector<std::string> remarks;
  std::vector<double> product;
  std::vector<double> solution;
  bool operator==(const Deeds&) const = default;
};

Deeds deeds_of(const Matrix& a, const std::string& preconditioner) {
  const auto count = static_cast<std::size_t>(a.local_row_count());
  std::vector<double> x;
  for (std::size_t i = 0; i < count; ++i)
    x.push_back(std::sin(static_cast<double>(a.global_row(static_cast<std::int64_t>(i)))));
  Deeds deeds{a.nonzero_count(), a.remarks(), std::vector<double>(count),
              std::vector<double>(count)};
  a.multiply(x, deeds.product);
  Solver(a, {{"method", "cg"}, {"preconditioner", preconditioner}}).solve(x, deeds.solution);
  return deeds;
}

template <class Index>
void expect_same_deeds(const Job& job, const IsZero& at_first, const IsZero& then) {
  const TridiagonalRows first = make_rows(job, 4.5, at_first);
  const TridiagonalRows second = make_rows(job, 6, then);
  const Options as_is{{"triangle", "as-is"}};
  Matrix expected = Matrix::from_rows(job, first.rows(), as_is);
  const Blocks<Index> first_blocks(first);
  Matrix found = Matrix::from_rows(job, first_blocks.rows());
  for (const char* const preconditioner : {"jacobi", "amg"}) {
    INFO(preconditioner);
    CHECK(deeds_of(found, preconditioner) == deeds_of(expected, preconditioner));
  }
  expected.update_values(second.values);
  const Blocks<Index> second_blocks(second);
  found.update_values(second_blocks.rows());
  for (const char* const preconditioner : {"jacobi", "amg"}) {
    INFO("new values, " << preconditioner);
    CHECK(deeds_of(found, preconditioner) == deeds_of(expected, preconditioner));
  }
}

TEST_CASE("rows in two blocks are the matrix of the same rows in one, and so are new values") {
  const Job job = make_job();
  expect_same_deeds<std::int32_t>(job, is_never_zero, is_never_zero);
  expect_same_deeds<std::int64_t>(job, is_never_zero, is_never_zero);
}

TEST_CASE("zeros of rows in two blocks are left out, also where new values have others") {
  const Job job = make_job();
  expect_same_deeds<std::int32_t>(job, is_zero_at_first, is_zero_at_first);
  expect_same_deeds<std::int32_t>(job, is_zero_at_first, is_zero_then);
  expect_same_deeds<std::int32_t>(job, is_zero_at_first, is_never_zero);
  expect_same_deeds<std::int64_t>(job, is_zero_at_first, is_zero_then);
}

TEST_CASE("blocks that contradict each other are an error with the same text on every rank") {
  const Job job = make_job();
  const bool is_last = job.rank() == job.size() - 1;
  const TridiagonalRows rows = make_rows(job, 4.5, is_never_zero);
  using Wrong = std::function<void(Blocks<std::int32_t>&)>;
  const auto expect_fault = [&](const char* text, const Wrong& make_wrong) {
    Blocks<std::int32_t> blocks(rows);
    if (is_last) make_wrong(blocks);
    CHECK_THROWS_WITH(Matrix::from_rows(job, blocks.rows()), Catch::Contains(text));
  };
  expect_fault("found first_row", [](auto& blocks) { ++blocks.first_row; });
  expect_fault("found no offsets", [](auto& blocks) { blocks.own_offsets.clear(); });
  expect_fault("other offsets of block own", [](auto& blocks) { blocks.own_offsets[0] = 1; });
  expect_fault("other offsets of block others",
               [](auto& blocks) { blocks.other_offsets.push_back(0); });
  expect_fault("of block own; expected", [](auto& blocks) { blocks.own_values.pop_back(); });
  expect_fault("ascending in each row", [](auto& blocks) { blocks.own_columns.back() = -1; });
  expect_fault("ascending in each row", [](auto& blocks) { blocks.own_columns.back() = 5000; });
  expect_fault("ascending in each row",
               [](auto& blocks) { std::swap(blocks.own_columns[0], blocks.own_columns[1]); });
  expect_fault("expected a finite number", [](auto& blocks) {
    blocks.own_values.back() = std::numeric_limits<double>::quiet_NaN();
  });
  expect_fault("in columns_of_others",
               [](auto& blocks) { blocks.columns_of_others.push_back(row_count); });
  if (job.size() > 1)
    expect_fault("ascending in each row", [](auto& blocks) { blocks.other_columns[0] = 77; });
}

TEST_CASE("new values of other rows than before are an error, and leave the matrix") {
  const Job job = make_job();
  const bool is_last = job.rank() == job.size() - 1;
  const TridiagonalRows rows = make_rows(job, 4.5, is_never_zero);
  const Blocks<std::int32_t> blocks(rows);
  Matrix a = Matrix::from_rows(job, blocks.rows());
  const Deeds before = deeds_of(a, "jacobi");
  Blocks<std::int32_t> others = blocks;
  if (is_last) others.own_values.back() = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(a.update_values(others.rows()), Catch::Contains("expected a finite number"));
  others = blocks;
  if (is_last) {
    others.own_columns.pop_back();
    others.own_values.pop_back();
    --others.own_offsets.back();
  }
  CHECK_THROWS_WITH(a.update_values(others.rows()), Catch::Contains("entries in the two blocks"));
  CHECK_THROWS_WITH(a.update_values(rows.values), Catch::Contains("not made of the caller's rows"));
  CHECK_THROWS_WITH(a.update_values(Blocks<std::int64_t>(rows).rows()),
                    Catch::Contains("not made of the caller's rows in two blocks"));
  CHECK_THROWS_WITH(Matrix::from_rows(job, blocks.rows(), {{"triangle", "mirrored"}}),
                    Catch::Contains("rows in two blocks"));
  CHECK(deeds_of(a, "jacobi") == before);
}

}  // namespace
}  // namespace weft::tests
