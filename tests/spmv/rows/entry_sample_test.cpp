#include "spmv/rows/entry_sample.h"

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

/// Rows of a path, 2 or 3 entries each; or, `is_star`, all of them in row and column 0, too.
EntrySample of_path(GlobalIndex rows, bool is_by_columns, bool is_star) {
  EntrySample sample;
  const auto take = [&](GlobalIndex row, GlobalIndex column) {
    is_by_columns ? sample.take(column, row) : sample.take(row, column);
  };
  for (GlobalIndex row = 0; row < rows; ++row) {
    if (is_star && row % 2 == 0) take(row, 0);
    if (row > 0) take(row, row - 1);
    take(row, row);
    if (row + 1 < rows) take(row, row + 1);
  }
  return sample;
}

}  // namespace

TEST_CASE("a sample row after row or column after column tells lengths and reach") {
  for (const bool is_by_columns : {false, true}) {
    CHECK_FALSE(of_path(100, is_by_columns, false).has_varying_rows());
    CHECK(of_path(100, is_by_columns, false).reach() == 1);
    CHECK(of_path(100, is_by_columns, true).has_varying_rows());
    CHECK(of_path(100, is_by_columns, true).reach() == 98);
  }
}

TEST_CASE(
    "half of a matrix looks ahead by the columns of its lower part and the rows of its upper") {
  EntrySample lower_rows;
  EntrySample lower_columns;
  EntrySample upper_rows;
  for (GlobalIndex i = 0; i < 50; ++i) {
    for (const GlobalIndex column : {i, i + 8, i + 9}) lower_rows.take(i + 9, column);
    upper_rows.take(i, i);
    upper_rows.take(i, i + 1);
    upper_rows.take(i, i + 9);
    for (const GlobalIndex row : {i, i + 1, i + 9}) lower_columns.take(row, i);
  }
  CHECK_FALSE(lower_rows.looks_ahead());
  CHECK(lower_columns.looks_ahead());
  CHECK(upper_rows.looks_ahead());
}

TEST_CASE("of entries in no order nothing is known: rows may vary, and reach as far as they like") {
  EntrySample sample;
  CHECK(sample.has_varying_rows());
  CHECK(sample.reach() > 1000);
  for (GlobalIndex i = 0; i < 1000; ++i) sample.take(i * 7 % 1000, i * 13 % 1000);
  CHECK(sample.has_varying_rows());
  CHECK(sample.reach() > 1000);
}

}  // namespace weft::spmv
