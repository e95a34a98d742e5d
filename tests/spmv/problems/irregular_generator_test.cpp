#include "spmv/problems/irregular_generator.h"

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

using Row = std::vector<std::pair<GlobalIndex, double>>;

std::vector<Row> irregular_rows(const IrregularSettings& settings, GlobalIndex begin,
                                GlobalIndex end) {
  std::vector<Row> rows;
  IrregularGenerator(settings).visit_rows(
      begin, end,
      [&](GlobalIndex row, std::span<const GlobalIndex> columns, std::span<const double> values) {
        CHECK(row == begin + std::ssize(rows));
        rows.emplace_back();
        for (std::size_t i = 0; i < columns.size(); ++i)
          rows.back().emplace_back(columns[i], values[i]);
      });
  CHECK(std::ssize(rows) == end - begin);
  return rows;
}

std::vector<Row> all_rows(const IrregularSettings& settings) {
  return irregular_rows(settings, 0, settings.row_count);
}

double entry(const std::vector<Row>& rows, GlobalIndex row, GlobalIndex column) {
  for (const auto& [found, value] : rows[static_cast<std::size_t>(row)])
    if (found == column) return value;
  return 0;
}

// Counts errors: one check per entry would be slow.
struct Faults {
  int unordered = 0, outside_band = 0, unsymmetric = 0, value_range = 0, not_dominant = 0;
};

Faults faults_of(const std::vector<Row>& rows, GlobalIndex bandwidth) {
  Faults faults;
  for (GlobalIndex i = 0; i < std::ssize(rows); ++i) {
    GlobalIndex before = -1;
    double sum = 0;
    for (const auto& [j, value] : rows[static_cast<std::size_t>(i)]) {
      if (j <= std::exchange(before, j)) ++faults.unordered;
      if (std::abs(i - j) > bandwidth || j >= std::ssize(rows)) ++faults.outside_band;
      if (j < std::ssize(rows) && entry(rows, j, i) != value) ++faults.unsymmetric;
      if (j != i && (value < -1 || value > -0.1)) ++faults.value_range;
      if (j != i) sum += -value;
    }
    if (std::abs(entry(rows, i, i) - (1 + sum)) > 1e-13 * sum) ++faults.not_dominant;
  }
  return faults;
}

const std::vector<IrregularSettings> small_cases{
    {1, 15, 16, 1},     {2, 15, 16, 1},    {4, 15, 16, 1},     {40, 15, 16, 1}, {100, 1, 3, 1},
    {100, 2, 1, 1},     {100, 3, 1, 1},    {101, 6, 4, 2},     {500, 9, 4, 3},  {500, 15, 499, 4},
    {500, 15, 5000, 5}, {2000, 15, 40, 6}, {20000, 14, 300, 7}};

TEST_CASE("irregular matrices are symmetric, banded, and dominated by their diagonal") {
  for (const IrregularSettings& settings : small_cases) {
    INFO(settings.row_count << " rows, bandwidth " << settings.bandwidth);
    const Faults faults = faults_of(all_rows(settings), settings.bandwidth);
    CHECK(faults.unordered == 0);
    CHECK(faults.outside_band == 0);
    CHECK(faults.unsymmetric == 0);
    CHECK(faults.value_range == 0);
    CHECK(faults.not_dominant == 0);
  }
}

TEST_CASE("rows made in pieces of any size are the rows made at once") {
  for (const IrregularSettings& settings : small_cases) {
    INFO(settings.row_count << " rows, bandwidth " << settings.bandwidth);
    const std::vector<Row> whole = all_rows(settings);
    const GlobalIndex middle = settings.row_count / 3;
    std::vector<Row> pieces = irregular_rows(settings, 0, middle);
    for (const GlobalIndex end : {middle, middle + 1, settings.row_count}) {
      const auto piece =
          irregular_rows(settings, std::ssize(pieces), std::min(end, settings.row_count));
      pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    CHECK(pieces == whole);
  }
}

TEST_CASE("rows have about as many nonzeros as asked for, at the edges too") {
  for (const GlobalIndex wanted : {5, 14, 15, 40}) {
    const auto rows = all_rows({20000, wanted, 1000, 1});
    const auto mean = [&](std::size_t begin, std::size_t end) {
      double count = 0;
      for (std::size_t row = begin; row < end; ++row)
        count += static_cast<double>(rows[row].size());
      return count / static_cast<double>(end - begin);
    };
    const auto expected = static_cast<double>(wanted);
    CHECK(mean(0, 20000) == Approx(expected).epsilon(0.02));
    CHECK(mean(0, 500) == Approx(expected).epsilon(0.25));
    CHECK(mean(19500, 20000) == Approx(expected).epsilon(0.25));
  }
}

TEST_CASE("a small matrix with a wide band is full") {
  for (const Row& row : all_rows({4, 15, 16, 1})) CHECK(row.size() == 4);
}

TEST_CASE("one nonzero per row is the identity") {
  for (const Row& row : all_rows({3, 1, 16, 1})) {
    CHECK(row.size() == 1);
    CHECK(row.front().second == 1);
  }
}

TEST_CASE("another seed gives another pattern and other values") {
  const auto one = all_rows({300, 15, 50, 1});
  const auto two = all_rows({300, 15, 50, 2});
  int same = 0;
  for (std::size_t row = 0; row < one.size(); ++row) same += one[row] == two[row];
  CHECK(same == 0);
}

}  // namespace
}  // namespace weft::spmv
