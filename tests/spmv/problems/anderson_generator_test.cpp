#include "spmv/problems/anderson_generator.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

using Row = std::vector<std::pair<GlobalIndex, double>>;

std::vector<Row> anderson_rows(const std::string& word) {
  const Problem problem = Problem::parse(word);
  std::vector<Row> rows;
  AndersonGenerator(problem).visit_rows(
      0, problem.row_count(),
      [&](GlobalIndex, std::span<const GlobalIndex> columns, std::span<const double> values) {
        rows.emplace_back();
        for (std::size_t i = 0; i < columns.size(); ++i)
          rows.back().emplace_back(columns[i], values[i]);
      });
  return rows;
}

TEST_CASE("every point of an Anderson matrix has six periodic neighbours, equal ones added up") {
  const int x_size = 4, y_size = 2, z_size = 1;
  const auto rows = anderson_rows("anderson3d:4x2x1,W=0");
  for (int z = 0; z < z_size; ++z)
    for (int y = 0; y < y_size; ++y)
      for (int x = 0; x < x_size; ++x) {
        const auto row_of = [&](int dx, int dy, int dz) {
          return (x + dx + x_size) % x_size +
                 x_size * ((y + dy + y_size) % y_size + y_size * ((z + dz + z_size) % z_size));
        };
        std::map<GlobalIndex, double> expected{{row_of(0, 0, 0), 0.0}};
        for (const int step : {-1, 1}) {
          expected[row_of(step, 0, 0)] -= 1;
          expected[row_of(0, step, 0)] -= 1;
          expected[row_of(0, 0, step)] -= 1;
        }
        CHECK(rows[static_cast<std::size_t>(row_of(0, 0, 0))] ==
              Row(expected.begin(), expected.end()));
      }
}

TEST_CASE("the disorder of an Anderson matrix fills its width and depends on the seed") {
  const auto one = anderson_rows("anderson3d:10,W=4,seed=1");
  const auto two = anderson_rows("anderson3d:10,W=4,seed=2");
  double low = 0, high = 0;
  int same = 0;
  for (std::size_t row = 0; row < one.size(); ++row) {
    CHECK(one[row].size() == 7);
    for (std::size_t i = 0; i < one[row].size(); ++i) {
      const auto [column, value] = one[row][i];
      if (column != static_cast<GlobalIndex>(row)) {
        CHECK(value == -1);
        continue;
      }
      low = std::min(low, value);
      high = std::max(high, value);
      same += value == two[row][i].second;
    }
  }
  CHECK(low >= -2);
  CHECK(low < -1.9);
  CHECK(high < 2);
  CHECK(high > 1.9);
  CHECK(same == 0);
}

}  // namespace
}  // namespace weft::spmv
