// Matrices so small that they are solved whole, beside dense eigenvalues by Eigen.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/eigen/both_ends.h"
#include "solver/eigen/certificate.h"
#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/eigen/lobpcg.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;

Eigen::MatrixXd dense(const ReferenceMatrix& matrix) {
  const auto rows = static_cast<Eigen::Index>(matrix.size());
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(rows, rows);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (const auto& [column, value] : matrix[static_cast<std::size_t>(i)]) all(i, column) = value;
  return all;
}

/// Σ vᵢ·vᵢᵀ of some vectors, so that most eigenvalues are zero.
ReferenceMatrix of_low_rank(int rows, int rank) {
  ReferenceMatrix matrix(static_cast<std::size_t>(rows));
  for (int k = 1; k <= rank; ++k)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < rows; ++j)
        matrix[static_cast<std::size_t>(i)][j] += std::cos(k * i + 0.5) * std::cos(k * j + 0.5);
  return matrix;
}

ReferenceMatrix diagonal(const std::vector<double>& entries) {
  ReferenceMatrix matrix(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i)
    matrix[i][static_cast<std::int64_t>(i)] = entries[i];
  return matrix;
}

/// A tridiagonal matrix, positive definite.
ReferenceMatrix mass_of(std::size_t rows) {
  ReferenceMatrix matrix = diagonal(std::vector<double>(rows, 4.0 / 6));
  for (std::size_t i = 1; i < rows; ++i)
    matrix[i][static_cast<std::int64_t>(i) - 1] = matrix[i - 1][static_cast<std::int64_t>(i)] =
        1.0 / 6;
  return matrix;
}

struct TinyMatrix {
  std::string name;
  ReferenceMatrix matrix;
};

std::vector<TinyMatrix> tiny_matrices() {
  const ReferenceMatrix grid = tests::reference_matrix(spmv::Problem::parse("poisson2d:3"));
  return {{"one row", diagonal({-2.5})},
          {"two rows", {{{0, 1.0}, {1, 3.0}}, {{0, 3.0}, {1, 1.0}}}},
          {"zero", diagonal({0, 0, 0})},
          {"equal", diagonal({2, 2, 2, 2, 2})},
          {"two clusters", diagonal({1, -1, 1, -1, 1, -1, 1})},
          {"grid", grid},
          {"rank 2 of 8", of_low_rank(8, 2)}};
}

/// Values in units of `scale`, from the end that is named inwards, beside `exact`, ascending.
void check_values(const EigenReport& report, std::vector<double> exact, SpectrumEnd end, int count,
                  double most) {
  if (end == SpectrumEnd::largest) std::reverse(exact.begin(), exact.end());
  CHECK(report.status == SolveStatus::converged);
  CHECK(std::ssize(report.pairs) == count);
  for (std::size_t i = 0; i < std::min(report.pairs.size(), static_cast<std::size_t>(count)); ++i)
    CHECK(std::abs(report.pairs[i].value - exact[i]) <= most);
}

std::vector<double> dense_values(const ReferenceMatrix& matrix) {
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense(matrix)).eigenvalues();
  return {values.begin(), values.end()};
}

double largest_of(const std::vector<double>& values) {
  return std::max(std::abs(values.front()), std::abs(values.back()));
}

TEST_CASE("lanczos finds any number of values of a tiny matrix at either end and at both",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  for (const auto& [name, matrix] : tiny_matrices()) {
    const std::vector<double> exact = dense_values(matrix);
    const double most = 1e-13 * largest_of(exact);
    MatrixSystem system(world, matrix);
    const auto rows = static_cast<int>(matrix.size());
    for (int count = 1; count <= rows; ++count) {
      INFO(name << ", " << count);
      for (const SpectrumEnd end : {SpectrumEnd::smallest, SpectrumEnd::largest}) {
        FilteredLanczos lanczos(system.op(), {.count = count, .end = end});
        EigenReport report = lanczos.collective_solve();
        CHECK(report.is_whole);
        CHECK(report.norm == Approx(largest_of(exact)).epsilon(1e-13));
        CHECK(report.orthogonality < 1e-13);
        check_values(report, exact, end, count, most);
        collective_certify(system.op(), nullptr, end, Certificate::automatic, report);
        CHECK(report.completeness.is_shown);
        for (int i = 0; i < count; ++i) {
          double square = 0;
          for (const double entry : lanczos.collective_vector(i)) square += entry * entry;
          CHECK(world.sum(square) == Approx(1).epsilon(1e-13));
        }
      }
      if (count == 1) continue;
      BothEnds both(system.op(), {.count = count, .part = SpectrumPart::both});
      std::vector<double> ends(exact.begin(), exact.begin() + count / 2);
      ends.insert(ends.end(), exact.end() - (count + 1) / 2, exact.end());
      check_values(both.collective_solve(), ends, SpectrumEnd::smallest, count, most);
    }
  }
}

TEST_CASE("lobpcg finds any number of values of a tiny matrix, with and without a mass matrix",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  for (const auto& [name, matrix] : tiny_matrices()) {
    const std::vector<double> exact = dense_values(matrix);
    const ReferenceMatrix mass = mass_of(matrix.size());
    const Eigen::VectorXd values =
        Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(dense(matrix), dense(mass))
            .eigenvalues();
    const std::vector<double> with_mass(values.begin(), values.end());
    MatrixSystem system(world, matrix);
    MatrixSystem of_mass(world, mass);
    for (int count = 1; count <= static_cast<int>(matrix.size()); ++count)
      for (const SpectrumEnd end : {SpectrumEnd::smallest, SpectrumEnd::largest}) {
        INFO(name << ", " << count << ' ' << solver::name(end));
        Lobpcg lobpcg(system.op(), nullptr, nullptr, {.count = count, .end = end});
        check_values(lobpcg.collective_solve(), exact, end, count, 1e-13 * largest_of(exact));
        Lobpcg general(system.op(), &of_mass.op(), nullptr, {.count = count, .end = end});
        const EigenReport report = general.collective_solve();
        check_values(report, with_mass, end, count, 1e-13 * largest_of(with_mass));
        CHECK(report.orthogonality < 1e-12);
      }
  }
}

TEST_CASE("all values of a grid's matrix of any scale are found with all copies", "[collective]") {
  const auto& world = Communicator::collective_world();
  const ReferenceMatrix grid = tests::reference_matrix(spmv::Problem::parse("poisson2d:6"));
  const std::vector<double> exact = dense_values(grid);
  for (const int exponent : {0, -960, 960}) {
    ReferenceMatrix matrix = grid;
    for (auto& row : matrix)
      for (auto& entry : row) entry.second = std::ldexp(entry.second, exponent);
    MatrixSystem system(world, matrix);
    for (const int count : {29, 30, 35, 36}) {
      INFO("2^" << exponent << ", " << count);
      FilteredLanczos lanczos(system.op(), {.count = count});
      Lobpcg lobpcg(system.op(), nullptr, nullptr, {.count = count});
      for (EigenReport report : {lanczos.collective_solve(), lobpcg.collective_solve()}) {
        for (EigenPair& pair : report.pairs) pair.value = std::ldexp(pair.value, -exponent);
        check_values(report, exact, SpectrumEnd::smallest, count, 1e-13);
        CHECK(report.is_whole);
      }
    }
  }
}

}  // namespace
}  // namespace weft::solver
