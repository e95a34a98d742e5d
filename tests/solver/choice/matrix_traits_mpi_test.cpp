#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/choice/matrix_traits.h"
#include "solver/choice/row_scales.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;

double entry(const ReferenceMatrix& a, std::size_t i, std::int64_t j) {
  const auto found = a[i].find(j);
  return found == a[i].end() ? 0 : found->second;
}

/// The first pair that differs, by looking at all pairs in order.
std::optional<Asymmetry> first_asymmetry(const ReferenceMatrix& a) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      const double value = entry(a, i, static_cast<std::int64_t>(j));
      const double transposed = entry(a, j, static_cast<std::int64_t>(i));
      if (value != transposed)
        return Asymmetry{static_cast<std::int64_t>(i), static_cast<std::int64_t>(j), value,
                         transposed};
    }
  return std::nullopt;
}

MatrixTraits collective_traits(const Communicator& world, const ReferenceMatrix& a) {
  MatrixSystem system(world, a);
  return collective_find_traits(system.op());
}

void check_asymmetry(const Communicator& world, const ReferenceMatrix& a) {
  const std::optional<Asymmetry> expected = first_asymmetry(a);
  const MatrixTraits traits = collective_traits(world, a);
  CHECK(traits.asymmetry.has_value() == expected.has_value());
  if (!expected || !traits.asymmetry) return;
  CHECK(traits.asymmetry->row == expected->row);
  CHECK(traits.asymmetry->column == expected->column);
  CHECK(traits.asymmetry->value == expected->value);
  CHECK(traits.asymmetry->transposed == expected->transposed);
}

}  // namespace

TEST_CASE("the first entry that differs from its transposed one is found on any ranks") {
  const auto world = Communicator::collective_world();
  check_asymmetry(world, tests::shifted_laplacian(9, 1));
  check_asymmetry(world, tests::convection(9));
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    ReferenceMatrix a(40);
    for (std::int64_t k = 0; k < 120; ++k) {
      const auto i = static_cast<std::int64_t>(random() % 40);
      const auto j = static_cast<std::int64_t>(random() % 40);
      a[static_cast<std::size_t>(i)][j] = a[static_cast<std::size_t>(j)][i] = 1 + double(k);
    }
    check_asymmetry(world, a);
    for (int spoilt = 0; spoilt < 1 + round % 3; ++spoilt) {
      const std::size_t i = random() % 40;
      if (a[i].empty()) continue;
      if (round % 2 == 0)
        a[i].begin()->second += 0.5;
      else
        a[i].erase(std::prev(a[i].end()));
    }
    check_asymmetry(world, a);
  }
}

TEST_CASE("what differs by rounding alone is symmetric") {
  const auto world = Communicator::collective_world();
  ReferenceMatrix a = tests::shifted_laplacian(6, 0);
  a[3][4] *= 1 + 1e-12;
  a[2][20] = 1e-17;
  CHECK(collective_traits(world, a).is_symmetric());
  a[3][4] *= 1 + 1e-8;
  CHECK(!collective_traits(world, a).is_symmetric());
}

TEST_CASE("entries that differ do not make up for each other") {
  const auto world = Communicator::collective_world();
  ReferenceMatrix a = tests::shifted_laplacian(6, 0);
  a[1][2] = a[8][7] = 3;
  a[2][1] = a[7][8] = 4;
  check_asymmetry(world, a);
  a = tests::shifted_laplacian(6, 0);
  a[1][30] = a[2][31] = 1;
  check_asymmetry(world, a);
  a = tests::shifted_laplacian(6, 0);
  a[4][20] = 0;
  a[5][21] = 0.0;
  a[21][5] = -0.0;
  CHECK(collective_traits(world, a).is_symmetric());
  a[4][20] = a[20][4] = std::numeric_limits<double>::quiet_NaN();
  CHECK(!collective_traits(world, a).is_symmetric());
}

TEST_CASE("the grid of a matrix is found by the distances of its entries") {
  const auto world = Communicator::collective_world();
  const auto grid_of = [&](const ReferenceMatrix& a) {
    const auto grid = collective_traits(world, a).grid;
    return grid ? std::to_string(grid->x) + "x" + std::to_string(grid->y) + "x" +
                      std::to_string(grid->z)
                : "none";
  };
  const auto matrix = [](const char* word) {
    return tests::reference_matrix(spmv::Problem::parse(word));
  };
  CHECK(grid_of(matrix("poisson2d:7x5")) == "7x5x1");
  CHECK(grid_of(matrix("poisson3d:4x3x5")) == "4x3x5");
  CHECK(grid_of(matrix("anisotropic3d:2x6x3,1,2,3")) == "2x6x3");
  CHECK(grid_of(matrix("poisson3d27:4")) == "none");
  ReferenceMatrix a = matrix("poisson3d:4x3x5");
  a[0][7] = a[7][0] = -0.1;  // another distance
  CHECK(grid_of(a) == "none");
  a = matrix("poisson3d:4x3x5");
  a[1][0] = -2;  // not symmetric
  CHECK(grid_of(a) == "none");
  a = matrix("poisson2d:7x5");
  a.resize(28);  // the last line is gone
  for (std::size_t i = 21; i < 28; ++i) a[i].erase(static_cast<std::int64_t>(i) + 7);
  CHECK(grid_of(a) == "7x4x1");
  a.emplace_back()[28] = 4;  // no line
  CHECK(grid_of(a) == "none");
}

TEST_CASE("rows whose sums leave the range of double are not called zero") {
  const auto world = Communicator::collective_world();
  ReferenceMatrix a(4);
  for (std::int64_t i = 0; i < 4; ++i)
    a[static_cast<std::size_t>(i)] = {{i, 1.6e308}, {(i + 1) % 4, 1.6e308}};
  CHECK(collective_traits(world, a).zero_sum_row_count == 0);
}

TEST_CASE("signs, dominance, sums and bandwidth are those of the matrix") {
  const auto world = Communicator::collective_world();
  const MatrixTraits laplacian =
      collective_traits(world, tests::reference_matrix(spmv::Problem::parse("poisson2d:7x5")));
  CHECK(laplacian.row_count == 35);
  CHECK(laplacian.nonzero_count == 35 + 2 * (6 * 5 + 7 * 4));
  CHECK(laplacian.bandwidth == 7);
  CHECK(laplacian.envelope_work == 28 * 49 + 6);  // the first line reaches the point before
  CHECK(laplacian.longest_row == 5);
  CHECK(laplacian.has_signs_of_m_matrix());
  CHECK(laplacian.is_dominant());
  CHECK(laplacian.least_excess == 0);
  CHECK(laplacian.zero_sum_row_count == 15);
  CHECK(!laplacian.has_constant_null_space());
  CHECK(laplacian.least_diagonal == 4);
  CHECK(laplacian.largest_diagonal == 4);

  ReferenceMatrix ring(12);  // Neumann's problem on a ring
  for (std::int64_t i = 0; i < 12; ++i) {
    ring[static_cast<std::size_t>(i)][i] = 2;
    ring[static_cast<std::size_t>(i)][(i + 1) % 12] = -1;
    ring[static_cast<std::size_t>(i)][(i + 11) % 12] = -1;
  }
  CHECK(collective_traits(world, ring).has_constant_null_space());
  ring[5][5] = -4;
  CHECK(collective_traits(world, ring).least_excess == 0);
  for (std::size_t i = 0; i < 12; ++i) ring[i][static_cast<std::int64_t>(i)] = 4;
  CHECK(collective_traits(world, ring).least_excess == 0.5);
  for (std::size_t i = 0; i < 12; ++i) ring[i][static_cast<std::int64_t>(i)] = 2;
  ring[5][5] = 0;
  ring[6][6] = -3;
  ring[7][8] = 0.5;
  const MatrixTraits spoilt = collective_traits(world, ring);
  CHECK(spoilt.zero_diagonal_count == 1);
  CHECK(spoilt.negative_diagonal_count == 1);
  CHECK(spoilt.positive_off_diagonal_count == 1);
  CHECK(spoilt.dominant_row_count == 11);
  CHECK(spoilt.least_excess == -1);
  CHECK(spoilt.zero_sum_row_count == 9);
  CHECK(spoilt.bandwidth == 11);
  CHECK(spoilt.least_diagonal == 0);
  CHECK(!spoilt.has_constant_null_space());

  ReferenceMatrix diagonal(3);
  for (std::int64_t i = 0; i < 3; ++i) diagonal[static_cast<std::size_t>(i)][i] = 2;
  CHECK(collective_traits(world, diagonal).is_diagonal());
}

TEST_CASE("rows of any length add what a serial pass adds") {
  const auto world = Communicator::collective_world();
  std::mt19937 random(11);
  for (const unsigned longest : {3U, 8U, 9U, 30U}) {
    CAPTURE(longest);
    ReferenceMatrix a(70);
    MatrixTraits expected;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      for (std::size_t k = random() % (longest + 1); k > 0; --k)
        a[i][static_cast<std::int64_t>(random() % 70)] = double(random() % 9) - 4;
      double others = 0;
      double sum = 0;
      for (const auto& [column, value] : a[i]) {
        sum += value;
        expected.bandwidth = std::max(expected.bandwidth, std::abs(row - column));
        if (column == row) continue;
        others += std::abs(value);
        expected.positive_off_diagonal_count += value > 0;
      }
      const double diagonal = entry(a, i, row);
      expected.zero_diagonal_count += diagonal == 0;
      expected.negative_diagonal_count += diagonal < 0;
      expected.dominant_row_count += std::abs(diagonal) >= others;
      expected.zero_sum_row_count += others > 0 && sum == 0;
      expected.longest_row = std::max(expected.longest_row, std::ssize(a[i]));
      expected.largest_diagonal = std::max(expected.largest_diagonal, std::abs(diagonal));
    }
    const MatrixTraits traits = collective_traits(world, a);
    CHECK(traits.bandwidth == expected.bandwidth);
    CHECK(traits.positive_off_diagonal_count == expected.positive_off_diagonal_count);
    CHECK(traits.zero_diagonal_count == expected.zero_diagonal_count);
    CHECK(traits.negative_diagonal_count == expected.negative_diagonal_count);
    CHECK(traits.dominant_row_count == expected.dominant_row_count);
    CHECK(traits.zero_sum_row_count == expected.zero_sum_row_count);
    CHECK(traits.longest_row == expected.longest_row);
    CHECK(traits.largest_diagonal == expected.largest_diagonal);
    check_asymmetry(world, a);
  }
}

TEST_CASE("a matrix that is not symmetric is refused with its first entries and another method") {
  const auto world = Communicator::collective_world();
  const MatrixTraits traits = collective_traits(world, tests::convection(5));
  CHECK_THROWS_WITH(check_symmetric(traits, "method=cg", "method=gmres"),
                    "method=cg needs a symmetric matrix: found -0.3 at row 1, column 2 and -1.7 "
                    "at row 2, column 1; expected method=gmres, or force to run nevertheless");
  CHECK_NOTHROW(
      check_symmetric(collective_traits(world, tests::shifted_laplacian(5, 9)), "cg", "gmres"));
}

TEST_CASE("rows of very different scale are found, and most rows keep their scale") {
  const auto world = Communicator::collective_world();
  const auto scales_of = [&](const ReferenceMatrix& a, const auto& check) {
    MatrixSystem system(world, a);
    const auto scales =
        collective_find_row_scales(system.op(), collective_find_traits(system.op()));
    if (scales)
      for (std::size_t i = 0; i < system.op().element_count(); ++i)
        check(*scales, i, system.op().matrix().matrix().first_row() + static_cast<std::int64_t>(i));
    return scales ? scales->scaled_row_count : -1;
  };
  const auto nothing = [](const RowScales&, std::size_t, std::int64_t) {};
  ReferenceMatrix a = tests::shifted_laplacian(9, 0);
  CHECK(scales_of(a, nothing) == -1);
  for (auto& row : a)
    for (auto& [column, value] : row) value *= 1e30;
  CHECK(scales_of(a, nothing) == -1);  // all are large
  a = tests::shifted_laplacian(9, 0);
  a[80][80] += 0x1p60;
  a[4][4] += 0x1p100;
  a[5][5] += 0x1p19;
  CHECK(scales_of(a, [](const RowScales& scales, std::size_t i, std::int64_t row) {
          const double expected = row == 80 ? 0x1p-29 : row == 4 ? 0x1p-49 : row == 5 ? 0x1p-8 : 1;
          CHECK(scales.left[i] == expected);
          CHECK(scales.right[i] == expected);
          CHECK(scales.weight[i] == expected * expected);
          CHECK((scales.penalty[i] != 0) == (row == 80 || row == 4 || row == 5));
          CHECK(!scales.has_other_rows);
          CHECK(scales.has_scaled_penalties);
        }) == 3);
  // A penalty counts from 2^10 on, rows that are coupled from 2^20 on.
  a = tests::shifted_laplacian(9, 0);
  a[5][5] += 0x1p13;
  CHECK(scales_of(a, nothing) == 1);
  a[5][4] = a[4][5] = a[5][6] = a[6][5] = 0x1p12;
  CHECK(scales_of(a, nothing) == -1);
  a = tests::convection(9);
  CHECK(scales_of(a, nothing) == -1);
  a[7][7] = 0x1p40;
  CHECK(scales_of(a, [](const RowScales& scales, std::size_t i, std::int64_t row) {
          CHECK(scales.left[i] == (row == 7 ? 0x1p-38 : 1));
          CHECK(scales.right[i] == 1);
          CHECK(!scales.has_other_rows);
        }) == 1);
  // Where rows differ in scale beside the penalties, each is scaled to the median.
  for (auto& [column, value] : a[20]) value *= 0x1p-25;
  for (auto& [column, value] : a[30]) value *= 8;
  CHECK(
      scales_of(a, [](const RowScales& scales, std::size_t i, std::int64_t row) {
        CHECK(scales.left[i] == (row == 7 ? 0x1p-38 : row == 20 ? 0x1p25 : row == 30 ? 0.125 : 1));
        CHECK(scales.has_other_rows);
      }) == 3);
  // A zero on the diagonal is no scale, nor is a row of zeros.
  a = tests::shifted_laplacian(9, 0);
  a[3][3] = 0;
  a[10].clear();
  CHECK(scales_of(a, nothing) == -1);
  a[6][6] = std::numeric_limits<double>::infinity();
  CHECK(scales_of(a, nothing) == -1);
}

TEST_CASE("couplings of a grid that are cut are counted") {
  const auto world = Communicator::collective_world();
  const auto laplacian = [] {
    return tests::reference_matrix(spmv::Problem::parse("poisson2d:9"));
  };
  ReferenceMatrix a = laplacian();
  CHECK(collective_traits(world, a).cut_coupling_count == 0);
  const auto cut = [&](std::size_t i, std::size_t j, double value) {
    a[i][static_cast<std::int64_t>(j)] = a[j][static_cast<std::int64_t>(i)] = value;
  };
  cut(40, 41, -1e-9);
  cut(40, 49, 0);
  a[20].erase(21);
  a[21].erase(20);
  CHECK(collective_traits(world, a).cut_coupling_count == 3);
  // A direction without couplings has no walls.
  a = laplacian();
  for (std::size_t i = 0; i + 9 < a.size(); ++i) cut(i, i + 9, -1e-9);
  CHECK(collective_traits(world, a).grid.has_value());
  CHECK(collective_traits(world, a).cut_coupling_count == 0);
}

}  // namespace weft::solver
