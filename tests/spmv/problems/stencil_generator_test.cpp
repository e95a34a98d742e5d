#include "spmv/problems/stencil_generator.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

using Dense = std::vector<std::vector<double>>;

// The generated rows; also checks their order.
Dense generated(const Problem& problem) {
  const auto size = static_cast<std::size_t>(problem.row_count());
  Dense matrix(size, std::vector<double>(size, 0));
  GlobalIndex expected_row = 0;
  StencilGenerator(problem).visit_rows(
      0, problem.row_count(),
      [&](GlobalIndex row, std::span<const GlobalIndex> columns, std::span<const double> values) {
        CHECK(row == expected_row++);
        CHECK(columns.size() == values.size());
        for (std::size_t i = 0; i < columns.size(); ++i) {
          CHECK((i == 0 || columns[i - 1] < columns[i]));
          matrix[static_cast<std::size_t>(row)][static_cast<std::size_t>(columns[i])] = values[i];
        }
      });
  CHECK(expected_row == problem.row_count());
  return matrix;
}

// Every pair of points, by its distance: `weights` of the steps, or all 26 neighbours.
Dense reference(GridSize n, std::vector<double> weights, bool has_corners) {
  Dense matrix;
  const double diagonal = has_corners ? 26 : 2 * (weights[0] + weights[1] + weights[2]);
  for (GlobalIndex i = 0; i < n.x * n.y * n.z; ++i) {
    matrix.emplace_back();
    for (GlobalIndex j = 0; j < n.x * n.y * n.z; ++j) {
      const GlobalIndex x = std::abs(i % n.x - j % n.x);
      const GlobalIndex y = std::abs(i / n.x % n.y - j / n.x % n.y);
      const GlobalIndex z = std::abs(i / (n.x * n.y) - j / (n.x * n.y));
      const bool is_corner = x <= 1 && y <= 1 && z <= 1 && has_corners;
      const bool is_step = x + y + z == 1;
      const double weight = is_corner ? 1 : is_step ? weights[x ? 0 : y ? 1 : 2] : 0;
      matrix.back().push_back(i == j ? diagonal : 0 - weight);
    }
  }
  return matrix;
}

TEST_CASE("poisson2d on 3×2 points is the matrix written by hand") {
  const Dense by_hand{{4, -1, 0, -1, 0, 0}, {-1, 4, -1, 0, -1, 0}, {0, -1, 4, 0, 0, -1},
                      {-1, 0, 0, 4, -1, 0}, {0, -1, 0, -1, 4, -1}, {0, 0, -1, 0, -1, 4}};
  CHECK(generated(Problem::parse("poisson2d:3x2")) == by_hand);
  CHECK(reference({3, 2, 1}, {1, 1, 0}, false) == by_hand);
}

TEST_CASE("stencils on small grids equal the reference by distance") {
  for (const std::string size : {"1x1x1", "3x2x1", "1x2x3", "2x1x3", "4x3x2", "1x1x5", "3x3x3"}) {
    const Problem poisson = Problem::parse("poisson3d:" + size);
    INFO(size);
    CHECK(generated(poisson) == reference(poisson.grid, {1, 1, 1}, false));
    CHECK(generated(Problem::parse("poisson3d27:" + size)) ==
          reference(poisson.grid, {1, 1, 1}, true));
    CHECK(generated(Problem::parse("anisotropic3d:" + size + ",3,0.5,0.125")) ==
          reference(poisson.grid, {3, 0.5, 0.125}, false));
  }
  for (const std::string size : {"1x1", "3x2", "1x4", "4x1", "3x3"}) {
    const Problem poisson = Problem::parse("poisson2d:" + size);
    INFO(size);
    CHECK(generated(poisson) == reference(poisson.grid, {1, 1, 0}, false));
  }
}

TEST_CASE("the sum of a row is the weight of its missing neighbours") {
  for (const std::string word : {"poisson2d:4x3", "poisson3d:4x3x2", "poisson3d:1x1x3",
                                 "poisson3d27:3x2x4", "anisotropic3d:3,4,0.5,0.25"}) {
    const Problem problem = Problem::parse(word);
    INFO(word);
    std::vector<double> missing(static_cast<std::size_t>(problem.row_count()));
    StencilGenerator(problem).sum_missing_weights(0, problem.row_count(), missing);
    const Dense matrix = generated(problem);
    for (std::size_t row = 0; row < matrix.size(); ++row) {
      double sum = 0;
      for (const double value : matrix[row]) sum += value;
      CHECK(missing[row] == sum);
    }
  }
}

TEST_CASE("rows made in pieces are the rows made at once") {
  const Problem problem = Problem::parse("poisson3d27:3x4x2");
  const StencilGenerator generator(problem);
  std::vector<double> whole(24);
  generator.sum_missing_weights(0, 24, whole);
  const Dense matrix = generated(problem);
  for (GlobalIndex begin = 0; begin < 24; ++begin)
    for (GlobalIndex end = begin; end <= 24; ++end) {
      GlobalIndex expected_row = begin;
      generator.visit_rows(
          begin, end,
          [&](GlobalIndex row, std::span<const GlobalIndex> columns,
              std::span<const double> values) {
            CHECK(row == expected_row++);
            double sum = 0;
            for (const double value : values) sum += value;
            CHECK(sum == whole[static_cast<std::size_t>(row)]);
            for (std::size_t i = 0; i < columns.size(); ++i)
              CHECK(matrix[static_cast<std::size_t>(row)][static_cast<std::size_t>(columns[i])] ==
                    values[i]);
          });
      CHECK(expected_row == end);
      std::vector<double> part(static_cast<std::size_t>(end - begin));
      generator.sum_missing_weights(begin, end, part);
      CHECK(std::equal(part.begin(), part.end(), whole.begin() + begin));
    }
}

}  // namespace
}  // namespace weft::spmv
