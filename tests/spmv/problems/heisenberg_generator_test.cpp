#include "spmv/problems/heisenberg_generator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/problems/problem.h"

namespace weft::spmv {
namespace {

using HeisenbergRow = std::map<GlobalIndex, double>;

std::vector<HeisenbergRow> heisenberg_rows(const std::string& word) {
  const Problem problem = Problem::parse(word);
  std::vector<HeisenbergRow> rows;
  HeisenbergGenerator(problem.heisenberg)
      .visit_rows(0, problem.row_count(),
                  [&](GlobalIndex row, std::span<const GlobalIndex> columns,
                      std::span<const double> values) {
                    CHECK(row == std::ssize(rows));
                    CHECK(std::is_sorted(columns.begin(), columns.end()));
                    rows.emplace_back();
                    for (std::size_t i = 0; i < columns.size(); ++i)
                      rows.back()[columns[i]] = values[i];
                    CHECK(rows.back().size() == columns.size());
                  });
  return rows;
}

std::vector<double> heisenberg_product(const std::vector<HeisenbergRow>& a,
                                       const std::vector<double>& x) {
  std::vector<double> y;
  for (const auto& row : a) {
    y.push_back(0);
    for (const auto& [column, value] : row) y.back() += value * x[static_cast<std::size_t>(column)];
  }
  return y;
}

TEST_CASE("the six states of four spins have the entries of their bonds") {
  const auto rows = heisenberg_rows("heisenberg:4,0");
  // 0011 0101 0110 1001 1010 1100
  CHECK(rows == std::vector<HeisenbergRow>{{{0, 0.0}, {1, 0.5}, {4, 0.5}},
                                           {{0, 0.5}, {1, -1.0}, {2, 0.5}, {3, 0.5}, {5, 0.5}},
                                           {{1, 0.5}, {2, 0.0}, {4, 0.5}},
                                           {{1, 0.5}, {3, 0.0}, {4, 0.5}},
                                           {{0, 0.5}, {2, 0.5}, {3, 0.5}, {4, -1.0}, {5, 0.5}},
                                           {{1, 0.5}, {4, 0.5}, {5, 0.0}}});
  // The ground state: E = -2.
  const std::vector<double> ground{1, -2, 1, 1, -2, 1};
  const auto product = heisenberg_product(rows, ground);
  for (std::size_t i = 0; i < ground.size(); ++i) CHECK(product[i] == -2 * ground[i]);
}

TEST_CASE("aligned spins are one state, and all directions of them have its energy") {
  CHECK(heisenberg_rows("heisenberg:9,4.5") == std::vector<HeisenbergRow>{{{0, 2.25}}});
  CHECK(heisenberg_rows("heisenberg:9,-4.5") == std::vector<HeisenbergRow>{{{0, 2.25}}});
  for (const char* const word : {"heisenberg:10,0", "heisenberg:9,1.5", "heisenberg:7,-2.5"}) {
    const auto rows = heisenberg_rows(word);
    const double sites = Problem::parse(word).heisenberg.sites;
    for (const double entry : heisenberg_product(rows, std::vector<double>(rows.size(), 1.0)))
      CHECK(entry == Approx(sites / 4).epsilon(1e-14));
  }
}

TEST_CASE("one spin down is a wave of energy L/4 - 1 + cos k") {
  const int sites = 11;
  const auto rows = heisenberg_rows("heisenberg:11,-4.5");
  REQUIRE(rows.size() == static_cast<std::size_t>(sites));
  for (int wave = 0; wave < sites; ++wave) {
    const double k = 2 * std::numbers::pi * wave / sites;
    std::vector<double> x;
    for (int site = 0; site < sites; ++site) x.push_back(std::cos(k * site));
    const auto y = heisenberg_product(rows, x);
    for (std::size_t i = 0; i < x.size(); ++i)
      CHECK(std::abs(y[i] - (sites / 4.0 - 1 + std::cos(k)) * x[i]) < 1e-13);
  }
}

TEST_CASE("a ring of two spins has both bonds, and rows may begin anywhere") {
  CHECK(heisenberg_rows("heisenberg:2,0") ==
        std::vector<HeisenbergRow>{{{0, -0.5}, {1, 1.0}}, {{0, 1.0}, {1, -0.5}}});
  const Problem problem = Problem::parse("heisenberg:14,1");
  CHECK(problem.row_count() == 3003);
  const auto all = heisenberg_rows("heisenberg:14,1");
  const HeisenbergGenerator generator(problem.heisenberg);
  for (const GlobalIndex row :
       {GlobalIndex{0}, GlobalIndex{1}, GlobalIndex{1500}, GlobalIndex{3002}})
    generator.visit_rows(
        row, row + 1,
        [&](GlobalIndex number, std::span<const GlobalIndex> columns, std::span<const double>) {
          CHECK(number == row);
          CHECK(columns.size() == all[static_cast<std::size_t>(row)].size());
        });
  for (GlobalIndex row = 0; row < problem.row_count(); ++row)
    for (const auto& [column, value] : all[static_cast<std::size_t>(row)])
      CHECK(all[static_cast<std::size_t>(column)].at(row) == value);
}

}  // namespace
}  // namespace weft::spmv
