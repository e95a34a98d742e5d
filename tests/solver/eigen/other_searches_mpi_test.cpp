// Lanczos in two passes, and searches from both ends.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/eigen/both_ends.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/two_pass_lanczos.h"
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

/// Eigenvalues of the 5-point stencil on a square of points, ascending.
std::vector<double> square_eigenvalues(int points) {
  std::vector<double> values;
  for (int i = 1; i <= points; ++i)
    for (int k = 1; k <= points; ++k)
      values.push_back(4 - 2 * std::cos(std::numbers::pi * i / (points + 1)) -
                       2 * std::cos(std::numbers::pi * k / (points + 1)));
  std::sort(values.begin(), values.end());
  return values;
}

TEST_CASE("two passes find the value at either end, of matrices of any scale", "[collective]") {
  const auto& world = Communicator::collective_world();
  const std::vector<double> all = square_eigenvalues(24);
  for (const int exponent : {0, -960, 960}) {
    ReferenceMatrix matrix = tests::reference_matrix(spmv::Problem::parse("poisson2d:24"));
    for (auto& row : matrix)
      for (auto& entry : row) entry.second = std::ldexp(entry.second, exponent);
    MatrixSystem system(world, matrix);
    for (const SpectrumEnd end : {SpectrumEnd::smallest, SpectrumEnd::largest}) {
      TwoPassLanczos lanczos(system.op(), {.end = end, .tolerance = 1e-9});
      const EigenReport report = lanczos.collective_solve();
      CHECK(report.status == SolveStatus::converged);
      const double expected = end == SpectrumEnd::smallest ? all.front() : all.back();
      CHECK(std::abs(std::ldexp(report.pairs[0].value, -exponent) - expected) < 1e-12);
      CHECK(std::ldexp(report.pairs[0].residual, -exponent) <= 1e-9 * 8);
      CHECK(report.products == 2 * report.restarts + 1);
      double square = 0;
      for (const double entry : lanczos.collective_vector()) square += entry * entry;
      CHECK(world.sum(square) == Approx(1).epsilon(1e-13));
    }
  }
}

TEST_CASE("two passes end where nothing is left, and where steps do not suffice", "[collective]") {
  const auto& world = Communicator::collective_world();
  ReferenceMatrix equal(300);
  for (std::size_t i = 0; i < equal.size(); ++i) equal[i][static_cast<std::int64_t>(i)] = 3;
  MatrixSystem system(world, equal);
  TwoPassLanczos lanczos(system.op(), {});
  const EigenReport report = lanczos.collective_solve();
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.pairs[0].value == Approx(3).epsilon(1e-14));
  CHECK(report.restarts <= TwoPassLanczos::steps_of_iteration);

  MatrixSystem grid(world, tests::reference_matrix(spmv::Problem::parse("poisson2d:24")));
  TwoPassLanczos stopped(grid.op(), {.max_iterations = 2});
  CHECK(stopped.collective_solve().status == SolveStatus::not_converged);
}

TEST_CASE("two passes that may take no step have no pair", "[collective]") {
  const auto& world = Communicator::collective_world();
  MatrixSystem grid(world, tests::reference_matrix(spmv::Problem::parse("poisson2d:24")));
  TwoPassLanczos lanczos(grid.op(), {.max_iterations = 0});
  const EigenReport report = lanczos.collective_solve();
  CHECK(report.status == SolveStatus::not_converged);
  CHECK(report.pairs.empty());
  CHECK(report.next.empty());
  CHECK(report.products == 0);
}

TEST_CASE("the bits of two passes depend neither on ranks, threads nor modes", "[collective]") {
  const auto& world = Communicator::collective_world();
  const Communicator alone = Communicator::self();
  const ReferenceMatrix matrix = tests::shifted_laplacian(36, 2.5);
  MatrixSystem system(world, matrix);
  MatrixSystem one(alone, matrix, 1);
  TwoPassLanczos reference(one.op(), {.mode = spmv::Mode::vector});
  const EigenReport expected = reference.collective_solve();
  for (const spmv::Mode mode : {spmv::Mode::vector, spmv::Mode::overlap, spmv::Mode::task}) {
    TwoPassLanczos lanczos(system.op(), {.mode = mode});
    const EigenReport report = lanczos.collective_solve();
    CHECK(report.products == expected.products);
    CHECK(report.pairs[0].value == expected.pairs[0].value);
    CHECK(report.pairs[0].residual == expected.pairs[0].residual);
    CHECK(lanczos.collective_vector() == system.part_of(reference.collective_vector()));
  }
}

TEST_CASE("half of the values come from each end, in ascending order and certified",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const std::vector<double> all = square_eigenvalues(21);
  MatrixSystem system(world, tests::reference_matrix(spmv::Problem::parse("poisson2d:21")));
  BothEnds search(system.op(), {.count = 5, .part = SpectrumPart::both});
  const EigenReport report = search.collective_solve();
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.completeness.is_shown);
  CHECK(report.pairs.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    const double expected = all[i < 2 ? i : all.size() - 5 + i];
    CHECK(std::abs(report.pairs[i].value - expected) <= report.pairs[i].error_bound);
    double square = 0;
    for (const double entry : search.vector(static_cast<int>(i))) square += entry * entry;
    CHECK(world.sum(square) == Approx(1).epsilon(1e-12));
  }
  CHECK_THROWS_AS(BothEnds(system.op(), {.count = 56, .part = SpectrumPart::both}),
                  comm_thread::InputError);
}

}  // namespace
}  // namespace weft::solver
