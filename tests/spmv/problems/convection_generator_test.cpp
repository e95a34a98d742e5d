#include "spmv/problems/convection_generator.h"

#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

using Rows = std::vector<std::map<GlobalIndex, double>>;

Rows convection_rows(const std::string& word) {
  const Problem problem = Problem::parse(word);
  Rows rows;
  ConvectionGenerator(problem).visit_rows(
      0, problem.row_count(),
      [&](GlobalIndex, std::span<const GlobalIndex> columns, std::span<const double> values) {
        rows.emplace_back();
        for (std::size_t i = 0; i < columns.size(); ++i) rows.back()[columns[i]] = values[i];
      });
  return rows;
}

}  // namespace

TEST_CASE("without a velocity convection3d is poisson3d") {
  const Rows rows = convection_rows("convection3d:3,0,0,0");
  CHECK(rows[13] == std::map<GlobalIndex, double>{
                        {4, -1}, {10, -1}, {12, -1}, {13, 6}, {14, -1}, {16, -1}, {22, -1}});
}

TEST_CASE("the flow strengthens the coupling with the point that it comes from") {
  // h = 1/4: the flow is 2 in x, −1 in y and 0.5 in z.
  const Rows rows = convection_rows("convection3d:3,8,-4,2");
  CHECK(rows[13] == std::map<GlobalIndex, double>{
                        {4, -1.5}, {10, -1}, {12, -3}, {13, 9.5}, {14, -1}, {16, -2}, {22, -1}});
  CHECK(rows[0] == std::map<GlobalIndex, double>{{0, 9.5}, {1, -1}, {3, -2}, {9, -1}});
}

}  // namespace weft::spmv
