#include "spmv/problems/elasticity_generator.h"

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

using Rows = std::vector<std::map<GlobalIndex, double>>;

Rows elasticity_rows(const std::string& word) {
  const Problem problem = Problem::parse(word);
  Rows rows;
  ElasticityGenerator(problem).visit_rows(
      0, problem.row_count(),
      [&](GlobalIndex row, std::span<const GlobalIndex> columns, std::span<const double> values) {
        CHECK(row == std::ssize(rows));
        rows.emplace_back();
        GlobalIndex last = -1;
        for (std::size_t i = 0; i < columns.size(); ++i) {
          CHECK(columns[i] > last);
          last = columns[i];
          rows.back()[columns[i]] = values[i];
        }
      });
  return rows;
}

/// Displacement of a node by a motion of a rigid body: three shifts, then three turns.
std::array<double, 3> motion(int number, const std::array<double, 3>& at) {
  switch (number) {
    case 0:
    case 1:
    case 2: {
      std::array<double, 3> shift{};
      shift[static_cast<std::size_t>(number)] = 1;
      return shift;
    }
    case 3:
      return {-at[1], at[0], 0};
    case 4:
      return {0, -at[2], at[1]};
    default:
      return {at[2], 0, -at[0]};
  }
}

}  // namespace

TEST_CASE("the matrix of elasticity is symmetric to the last bit with a positive diagonal") {
  for (const std::string word :
       {"elasticity3d:1", "elasticity3d:3x2x1", "elasticity3d:2x3x4,nu=0.45"}) {
    CAPTURE(word);
    const Rows rows = elasticity_rows(word);
    CHECK(std::ssize(rows) == Problem::parse(word).row_count());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      CHECK(rows[row].at(static_cast<GlobalIndex>(row)) > 0);
      for (const auto& [column, value] : rows[row]) {
        const auto& other = rows[static_cast<std::size_t>(column)];
        const auto found = other.find(static_cast<GlobalIndex>(row));
        CHECK((found != other.end() && found->second == value));
      }
    }
  }
}

TEST_CASE("motions of a rigid body need no force, but beside the clamped face") {
  const std::string word = "elasticity3d:4x3x2";
  const ElasticityGenerator generator(Problem::parse(word));
  const Rows rows = elasticity_rows(word);
  for (int number = 0; number < 6; ++number)
    for (std::size_t row = 0; row < rows.size(); ++row) {
      double force = 0;
      double size = 0;
      for (const auto& [column, value] : rows[row]) {
        const double share =
            value * motion(number, generator.coordinates(column / 3))[std::size_t(column % 3)];
        force += share;
        size += std::abs(share);
      }
      const double x = generator.coordinates(static_cast<GlobalIndex>(row) / 3)[0];
      CAPTURE(number, row, x);
      if (x > 1) CHECK(std::abs(force) <= 1e-13 * size);
    }
}

TEST_CASE("a unit cube that is pulled gets the forces of its strain energy") {
  // u = (x, 0, 0) has the energy (λ + 2μ)/2 a volume; the clamped face does not move in it.
  const std::string word = "elasticity3d:2x1x1,nu=0.25";
  const ElasticityGenerator generator(Problem::parse(word));
  const Rows rows = elasticity_rows(word);
  double energy = 0;
  for (std::size_t row = 0; row < rows.size(); row += 3)
    for (const auto& [column, value] : rows[row])
      if (column % 3 == 0)
        energy += 0.5 * value * generator.coordinates(static_cast<GlobalIndex>(row) / 3)[0] *
                  generator.coordinates(column / 3)[0];
  const double nu = 0.25;
  const double lambda = nu / ((1 + nu) * (1 - 2 * nu));
  const double mu = 1 / (2 * (1 + nu));
  CHECK(energy == Approx((lambda + 2 * mu) / 2 * 2));
}

}  // namespace weft::spmv
