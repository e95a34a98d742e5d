#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/eigen/certificate.h"
#include "solver/eigen/eigen_report.h"
#include "solver/interior/interior_lanczos.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;

/// Eigenvalues of the 5-point stencil on n×m points, or with `planes` of the 7-point stencil;
/// ascending.
std::vector<double> grid_eigenvalues(int n, int m, int planes = 0) {
  std::vector<double> values;
  const auto line = [](int k, int points) {
    return points == 0 ? 0.0 : 2 - 2 * std::cos(std::numbers::pi * k / (points + 1));
  };
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= m; ++j)
      for (int k = 1; k <= std::max(1, planes); ++k)
        values.push_back(line(i, n) + line(j, m) + line(k, planes));
  std::sort(values.begin(), values.end());
  return values;
}

/// The `count` of these that are nearest to a number, ascending.
std::vector<double> nearest(std::vector<double> values, double sigma, std::size_t count) {
  std::sort(values.begin(), values.end(), [sigma](double one, double other) {
    return std::abs(one - sigma) < std::abs(other - sigma);
  });
  values.resize(count);
  std::sort(values.begin(), values.end());
  return values;
}

void check_values(const EigenReport& report, const std::vector<double>& expected, double most) {
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.pairs.size() == expected.size());
  for (std::size_t i = 0; i < std::min(expected.size(), report.pairs.size()); ++i) {
    CHECK(std::abs(report.pairs[i].value - expected[i]) < most);
    CHECK(report.pairs[i].residual <= 1e-8 * report.norm);
  }
}

EigenReport collective_certified(MatrixSystem& system, const EigenOptions& options) {
  InteriorLanczos search(system.op(), options);
  EigenReport report = search.collective_solve();
  collective_certify_between(system.op(), search.range(), 1e9, options.certificate, report);
  return report;
}

TEST_CASE("values nearest to a number are found with all copies, wherever it lies",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const std::vector<double> all = grid_eigenvalues(30, 30);
  MatrixSystem system(world, tests::reference_matrix(spmv::Problem::parse("poisson2d:30")));
  for (const double sigma : {2.503, 4.01, 7.5, -3.0, 0.1, 9.0}) {
    INFO("near " << sigma);
    const std::size_t count = 8;
    const EigenReport report = collective_certified(
        system, {.count = static_cast<int>(count), .part = SpectrumPart::near, .sigma = sigma});
    const std::vector<double> expected = nearest(all, sigma, count);
    check_values(report, expected, 1e-7);
    for (std::size_t i = 0; i < report.pairs.size(); ++i)
      if (report.completeness.is_shown)
        CHECK(std::abs(report.pairs[i].value - expected[i]) <= report.pairs[i].error_bound);
  }
}

TEST_CASE("all values of an interval are found, and shown to be all", "[collective]") {
  const auto& world = Communicator::collective_world();
  const std::vector<double> all = grid_eigenvalues(10, 10, 10);
  MatrixSystem system(world, tests::reference_matrix(spmv::Problem::parse("poisson3d:10")));
  for (const EnergyRange range : {EnergyRange{3.01, 3.34}, EnergyRange{-1, 1.3},
                                  EnergyRange{11.2, 20}, EnergyRange{5.9, 6.1}}) {
    INFO(range.begin << " to " << range.end);
    std::vector<double> expected;
    for (const double value : all)
      if (value >= range.begin && value <= range.end) expected.push_back(value);
    const EigenReport report = collective_certified(system, {.interval = range});
    check_values(report, expected, 1e-7);
    CHECK(report.completeness.is_shown);
    for (std::size_t i = 0; i < report.pairs.size(); ++i)
      CHECK(std::abs(report.pairs[i].value - expected[i]) <= report.pairs[i].error_bound);
  }
  const EigenReport none = collective_certified(system, {.interval = EnergyRange{13, 14}});
  CHECK(none.pairs.empty());
  CHECK(none.completeness.is_shown);
}

TEST_CASE("a search ends before its space is full again, with all values", "[collective]") {
  const auto& world = Communicator::collective_world();
  MatrixSystem system(world, tests::reference_matrix(spmv::Problem::parse("anderson3d:14,W=16")));
  const EigenReport report = collective_certified(
      system,
      {.count = 6, .part = SpectrumPart::near, .sigma = 0.1, .certificate = Certificate::inertia});
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.completeness.is_shown);
  CHECK(report.products < 30000);  // full spaces alone: 33 368; now 28 520
}

TEST_CASE("a small matrix has its interior searched whole", "[collective]") {
  const auto& world = Communicator::collective_world();
  const std::vector<double> all = grid_eigenvalues(6, 6);
  MatrixSystem system(world, tests::reference_matrix(spmv::Problem::parse("poisson2d:6")));
  check_values(collective_certified(system, {.count = 5, .part = SpectrumPart::near, .sigma = 3.1}),
               nearest(all, 3.1, 5), 1e-12);
  std::vector<double> expected;
  for (const double value : all)
    if (value >= 2.1 && value <= 5.2) expected.push_back(value);
  check_values(collective_certified(system, {.interval = EnergyRange{2.1, 5.2}}), expected, 1e-12);
}

TEST_CASE("bounds of a small matrix are small, whatever its rows", "[collective]") {
  const auto& world = Communicator::collective_world();
  ReferenceMatrix matrix(7);
  for (std::size_t i = 0; i < matrix.size(); ++i)
    matrix[i][static_cast<std::int64_t>(i)] = static_cast<double>(i);
  MatrixSystem system(world, matrix);
  const EigenReport report =
      collective_certified(system, {.count = 3, .part = SpectrumPart::near, .sigma = 2.2});
  check_values(report, {1, 2, 3}, 1e-13);
  CHECK(report.completeness.is_shown);
  for (const EigenPair& pair : report.pairs) CHECK(pair.error_bound < 1e-12);
}

TEST_CASE("a number at which more copies lie than fit into the space", "[collective]") {
  const auto& world = Communicator::collective_world();
  ReferenceMatrix matrix(900);
  for (std::size_t i = 0; i < matrix.size(); ++i)
    matrix[i][static_cast<std::int64_t>(i)] = static_cast<double>(i % 3);
  MatrixSystem system(world, matrix);
  for (const double sigma : {1.0, 1.1})
    for (const int count : {1, 6}) {
      const EigenReport report = collective_certified(
          system, {.count = count, .part = SpectrumPart::near, .sigma = sigma, .max_restarts = 5});
      check_values(report, std::vector<double>(static_cast<std::size_t>(count), 1.0), 1e-7);
      CHECK(!report.completeness.is_shown);
      CHECK(report.restarts < 3);
    }
}

TEST_CASE("the bits of interior values and vectors depend neither on ranks, threads nor modes",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const Communicator alone = Communicator::self();
  const ReferenceMatrix matrix = tests::reference_matrix(spmv::Problem::parse("anderson3d:9,W=6"));
  MatrixSystem system(world, matrix);
  MatrixSystem one(alone, matrix, 1);
  EigenOptions options{.count = 6, .part = SpectrumPart::near, .sigma = 0.5};
  options.mode = spmv::Mode::vector;
  InteriorLanczos reference(one.op(), options);
  const EigenReport expected = reference.collective_solve();
  for (const spmv::Mode mode : {spmv::Mode::vector, spmv::Mode::overlap, spmv::Mode::task}) {
    options.mode = mode;
    InteriorLanczos search(system.op(), options);
    const EigenReport report = search.collective_solve();
    CHECK(report.products == expected.products);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(report.pairs[i].value == expected.pairs[i].value);
      CHECK(report.pairs[i].residual == expected.pairs[i].residual);
      CHECK(search.collective_vector(static_cast<int>(i)) ==
            system.part_of(reference.collective_vector(static_cast<int>(i))));
    }
  }
}

TEST_CASE("more values than a matrix can have near a number are refused", "[collective]") {
  const auto& world = Communicator::collective_world();
  MatrixSystem system(world, tests::reference_matrix(spmv::Problem::parse("poisson2d:20")));
  CHECK_THROWS_AS(
      InteriorLanczos(system.op(), {.count = 51, .part = SpectrumPart::near, .sigma = 2}),
      comm_thread::InputError);
  InteriorLanczos everything(system.op(), {.interval = EnergyRange{0, 8}});
  CHECK_THROWS_AS(everything.collective_solve(), comm_thread::InputError);
}

}  // namespace
}  // namespace weft::solver
