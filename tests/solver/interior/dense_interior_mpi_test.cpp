// Values in the interior of the spectrum, beside dense eigenvalues by Eigen and closed forms.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/eigen/certificate.h"
#include "solver/eigen/eigen_report.h"
#include "solver/interior/interior_lanczos.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;

ReferenceMatrix by_rows(const Eigen::MatrixXd& dense, double scale) {
  ReferenceMatrix matrix(static_cast<std::size_t>(dense.rows()));
  for (Eigen::Index i = 0; i < dense.rows(); ++i)
    for (Eigen::Index j = 0; j < dense.cols(); ++j)
      matrix[static_cast<std::size_t>(i)][static_cast<std::int64_t>(j)] = scale * dense(i, j);
  return matrix;
}

std::vector<double> dense_values(const Eigen::MatrixXd& dense) {
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense, Eigen::EigenvaluesOnly).eigenvalues();
  return {values.begin(), values.end()};
}

std::vector<double> dense_values(const ReferenceMatrix& matrix) {
  const auto rows = static_cast<Eigen::Index>(matrix.size());
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(rows, rows);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (const auto& [column, value] : matrix[static_cast<std::size_t>(i)])
      dense(i, column) = value;
  return dense_values(dense);
}

/// A random matrix whose eigenvalues in [−1, 1] are random but for three copies of −0.2, five of
/// 0.3, seven within 1e-9 of 0.6, and zeros in the place of all after the first `rank`.
Eigen::MatrixXd random_matrix(int rows, int rank, unsigned seed) {
  std::mt19937 random(seed);
  const auto number = [&] { return std::ldexp(static_cast<double>(random()), -31) - 1; };
  Eigen::VectorXd values = Eigen::VectorXd::NullaryExpr(rows, [&] { return number(); });
  values.segment(0, 3).setConstant(-0.2);
  values.segment(3, 5).setConstant(0.3);
  for (int i = 0; rows > 100 && i < 7; ++i) values(8 + i) = 0.6 + 1e-10 * i;
  values.tail(rows - rank).setZero();
  const Eigen::MatrixXd any = Eigen::MatrixXd::NullaryExpr(
      rows, rows, [&](Eigen::Index, Eigen::Index) { return number(); });
  const Eigen::MatrixXd vectors = Eigen::HouseholderQR<Eigen::MatrixXd>(any).householderQ();
  const Eigen::MatrixXd matrix = vectors * values.asDiagonal() * vectors.transpose();
  return (matrix + matrix.transpose()) / 2;
}

/// Of these, those in a range; ascending.
std::vector<double> inside(const std::vector<double>& all, const EnergyRange& range) {
  std::vector<double> values;
  for (const double value : all)
    if (value >= range.begin && value <= range.end) values.push_back(value);
  return values;
}

std::vector<double> nearest(std::vector<double> values, double sigma, std::size_t count) {
  std::sort(values.begin(), values.end(), [sigma](double one, double other) {
    return std::abs(one - sigma) < std::abs(other - sigma);
  });
  values.resize(count);
  std::sort(values.begin(), values.end());
  return values;
}

/// Searches in a matrix that is `scale` times another, and checks that all `expected` values of
/// that one are found, ascending, and lie within the bounds. Returns whether they are complete.
bool collective_check(MatrixSystem& system, const EigenOptions& options, double scale,
                      const std::vector<double>& expected) {
  constexpr double rounding = 1e-13;  // of the dense values
  InteriorLanczos search(system.op(), options);
  EigenReport report = search.collective_solve();
  collective_certify_between(system.op(), search.range(), 1e9, Certificate::automatic, report);
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.completeness.missing == 0);
  CHECK(report.pairs.size() == expected.size());
  for (std::size_t i = 0; i < std::min(expected.size(), report.pairs.size()); ++i) {
    const double value = report.pairs[i].value / scale;
    CHECK(std::abs(value - expected[i]) <= report.pairs[i].error_bound / scale + rounding);
    CHECK(report.pairs[i].residual <= options.tolerance * report.norm);
  }
  return report.completeness.is_shown;
}

EigenOptions near(double sigma, int count) {
  return {.count = count, .part = SpectrumPart::near, .sigma = sigma};
}

TEST_CASE("values in the interior of random matrices are those of a dense solver, with all copies",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  struct Shape {
    int rows;
    int rank;
    unsigned seed;
  };
  // The second once lost a copy's last digits with directions that seemed to vanish.
  for (const auto& [rows, rank, seed] : {Shape{12, 12, 1}, {257, 253, 8}, {300, 300, 9}}) {
    const Eigen::MatrixXd dense = random_matrix(rows, rank, seed);
    const std::vector<double> all = dense_values(dense);
    MatrixSystem system(world, by_rows(dense, 1));
    for (const double sigma : {0.3000001, -0.21, 0.5, 0.6, 0.01}) {
      INFO(rows << " rows, rank " << rank << ", near " << sigma);
      collective_check(system, near(sigma, 6), 1, nearest(all, sigma, 6));
    }
    for (const EnergyRange range :
         {EnergyRange{0.28, 0.32}, EnergyRange{-0.24, -0.16}, EnergyRange{0.59, 0.61}}) {
      INFO(rows << " rows, rank " << rank << ", " << range.begin << " to " << range.end);
      const std::vector<double> expected = inside(all, range);
      if (!expected.empty()) collective_check(system, {.interval = range}, 1, expected);
    }
  }
}

TEST_CASE("values in the interior of a matrix of tiny or huge numbers are found as others are",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const Eigen::MatrixXd dense = random_matrix(280, 276, 99);
  const std::vector<double> all = dense_values(dense);
  for (const int exponent : {-960, 960}) {
    const double scale = std::ldexp(1.0, exponent);
    INFO("2^" << exponent);
    MatrixSystem system(world, by_rows(dense, scale));
    collective_check(system, near(0.3000001 * scale, 7), scale, nearest(all, 0.3000001, 7));
    collective_check(system, {.interval = EnergyRange{-0.24 * scale, -0.16 * scale}}, scale,
                     inside(all, {-0.24, -0.16}));
  }
}

TEST_CASE("values in the interior of a disordered lattice are those of a dense solver",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const ReferenceMatrix matrix = tests::reference_matrix(spmv::Problem::parse("anderson3d:9,W=16"));
  const std::vector<double> all = dense_values(matrix);
  MatrixSystem system(world, matrix);
  CHECK(collective_check(system, near(0.1, 20), 1, nearest(all, 0.1, 20)));
  CHECK(collective_check(system, {.interval = EnergyRange{-2, -1.5}}, 1, inside(all, {-2, -1.5})));
}

/// Energies of one electron of each spin on a ring of four sites and of free phonons in three
/// modes, `most` at most; ascending.
std::vector<double> free_energies(double omega, int most) {
  std::vector<double> energies;
  for (int up = 0; up < 4; ++up)
    for (int down = 0; down < 4; ++down)
      for (int first = 0; first <= most; ++first)
        for (int second = 0; first + second <= most; ++second)
          for (int third = 0; first + second + third <= most; ++third)
            energies.push_back(-2 * std::cos(std::numbers::pi * up / 2) -
                               2 * std::cos(std::numbers::pi * down / 2) +
                               omega * (first + second + third));
  std::sort(energies.begin(), energies.end());
  return energies;
}

TEST_CASE("energies of free bosons are found with all copies, many more than a block has vectors",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const std::vector<double> all = free_energies(0.73, 5);
  MatrixSystem system(world, tests::reference_matrix(spmv::Problem::parse(
                                 "holstein-hubbard:sites=4,up=1,down=1,phonons=5,U=0,g=0,"
                                 "omega=0.73")));
  CHECK(static_cast<std::int64_t>(all.size()) == system.op().global_row_count());
  // 18 copies of 0.73, and four of −2 + 4·0.73, …
  CHECK(collective_check(system, near(0.7, 18), 1, nearest(all, 0.7, 18)));
  // 24 copies of −0.54.
  const EnergyRange range{-0.6, -0.5};
  CHECK(inside(all, range).size() == 24);
  CHECK(collective_check(system, {.interval = range}, 1, inside(all, range)));
}

}  // namespace
}  // namespace weft::solver
