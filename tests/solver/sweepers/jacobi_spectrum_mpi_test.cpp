#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <tuple>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/sweepers/jacobi_spectrum.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using spmv::GlobalIndex;
using spmv::Problem;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::Vector;

JacobiSpectrum estimate(const Communicator& world, const ReferenceMatrix& reference,
                        SpectrumOptions options = {}) {
  MatrixSystem system(world, reference);
  return collective_estimate_jacobi_spectrum(system.op(), options);
}

ReferenceMatrix poisson(const std::string& word) {
  return tests::reference_matrix(Problem::parse(word));
}

/// Result of the power iteration after `iterations` steps on one thread.
JacobiSpectrum estimate_serially(const ReferenceMatrix& a, int iterations) {
  Vector x(a.size(), 1.0);
  JacobiSpectrum result{0, 0, std::numeric_limits<double>::infinity(), iterations};
  for (int k = 0; k < iterations; ++k) {
    Vector y(a.size(), 0.0);
    double lowest = std::numeric_limits<double>::infinity(), highest = 0;
    for (std::size_t row = 0; row < a.size(); ++row) {
      for (const auto& [column, value] : a[row])
        if (column != static_cast<GlobalIndex>(row))
          y[row] += std::abs(value) * x[static_cast<std::size_t>(column)];
      y[row] *= std::abs(1 / a[row].at(static_cast<GlobalIndex>(row)));
      lowest = std::min(lowest, y[row] / x[row]);
      highest = std::max(highest, y[row] / x[row]);
    }
    result.lower = std::max(result.lower, lowest);
    result.upper = std::min(result.upper, highest);
    const double shift = result.upper / 8;
    for (std::size_t row = 0; row < a.size(); ++row)
      x[row] = (y[row] + shift * x[row]) / (result.upper + shift);
  }
  return result;
}

TEST_CASE("the radius of the 6×6 tridiagonal matrix is cos(π/7)") {
  const auto world = Communicator::collective_world();
  ReferenceMatrix matrix(6);
  for (GlobalIndex row = 0; row < 6; ++row) {
    matrix[static_cast<std::size_t>(row)][row] = -2;
    if (row > 0) matrix[static_cast<std::size_t>(row)][row - 1] = row % 2 == 0 ? 1 : -1;
    if (row < 5) matrix[static_cast<std::size_t>(row)][row + 1] = 1;
  }
  const JacobiSpectrum found = estimate(world, matrix);
  const double expected = std::cos(std::numbers::pi / 7);
  CHECK(found.lower <= expected);
  CHECK(found.upper >= expected);
  CHECK(found.upper - found.lower <= 1e-3 * found.upper);
  CHECK(found.estimate == Approx(expected).epsilon(1e-5));
  CHECK(found.iterations < 50);
  CHECK(found.async_guarantee() == AsyncGuarantee::guaranteed);
}

TEST_CASE("the radius of Poisson's problem lies between the bounds, with even and odd sides") {
  const auto world = Communicator::collective_world();
  for (const auto& [word, nx, ny] :
       {std::tuple{"poisson2d:9x7", 9, 7}, std::tuple{"poisson2d:20x13", 20, 13},
        std::tuple{"poisson2d:40x30", 40, 30}}) {
    CAPTURE(word);
    const JacobiSpectrum found = estimate(world, poisson(word), {.max_iterations = 2000});
    const double expected =
        (std::cos(std::numbers::pi / (nx + 1)) + std::cos(std::numbers::pi / (ny + 1))) / 2;
    CHECK(found.lower <= expected);
    CHECK(found.upper >= expected);
    CHECK(found.upper - found.lower <= 1e-3 * found.upper);
    CHECK(found.estimate <= expected + 1e-12);
    CHECK(found.estimate == Approx(expected).epsilon(1e-5));
    CHECK(found.async_guarantee() == AsyncGuarantee::guaranteed);
  }
}

TEST_CASE("bounds have the bits of the serial iteration") {
  const auto world = Communicator::collective_world();
  for (const std::string word : {"poisson2d:9x8", "irregular:2000", "poisson3d:64x8x8"}) {
    CAPTURE(word);
    const ReferenceMatrix reference = poisson(word);
    const JacobiSpectrum expected = estimate_serially(reference, 20);
    const JacobiSpectrum found = estimate(world, reference, {.accuracy = 0, .max_iterations = 20});
    CHECK(found.iterations == 20);
    CHECK(found.lower == expected.lower);
    CHECK(found.upper == expected.upper);
    CHECK(found.estimate >= found.lower);
    CHECK(found.estimate <= found.upper);
  }
}

TEST_CASE("nothing is promised before the bounds are on one side of 1") {
  const auto world = Communicator::collective_world();
  const JacobiSpectrum found = estimate(world, poisson("poisson2d:40x30"), {.max_iterations = 5});
  CHECK(found.iterations == 5);
  CHECK(found.upper == 1);
  CHECK(found.estimate < 1);
  CHECK(found.async_guarantee() == AsyncGuarantee::unknown);
  CHECK(JacobiSpectrum{1, 0.9, 1 - 1e-15, 9}.async_guarantee() == AsyncGuarantee::unknown);
}

TEST_CASE("a ring whose rows sum to zero, and a matrix with large rows, have no guarantee") {
  const auto world = Communicator::collective_world();
  ReferenceMatrix ring(6);
  for (GlobalIndex row = 0; row < 6; ++row) {
    ring[static_cast<std::size_t>(row)][row] = 2;
    ring[static_cast<std::size_t>(row)][(row + 1) % 6] = -1;
    ring[static_cast<std::size_t>(row)][(row + 5) % 6] = 1;
  }
  const JacobiSpectrum found = estimate(world, ring);
  CHECK(found.iterations == 1);
  CHECK(found.lower == 1);
  CHECK(found.upper == 1);
  CHECK(found.async_guarantee() == AsyncGuarantee::not_guaranteed);

  for (auto& row : ring)
    for (auto& [column, value] : row) value *= value == 2 ? 0.05 : 1;
  CHECK(estimate(world, ring).estimate == Approx(20));
}

TEST_CASE("a diagonal matrix has the radius 0, a triangular one at most its upper bound") {
  const auto world = Communicator::collective_world();
  ReferenceMatrix matrix(8);
  for (GlobalIndex row = 0; row < 8; ++row) matrix[static_cast<std::size_t>(row)][row] = 3;
  const JacobiSpectrum diagonal = estimate(world, matrix);
  CHECK(diagonal.iterations == 1);
  CHECK(diagonal.upper == 0);
  CHECK(diagonal.estimate == 0);
  CHECK(diagonal.async_guarantee() == AsyncGuarantee::guaranteed);

  // Rows coupled in one direction only: the bounds do not meet.
  for (GlobalIndex row = 0; row + 1 < 8; ++row) matrix[static_cast<std::size_t>(row)][row + 1] = 30;
  const JacobiSpectrum triangular = estimate(world, matrix);
  CHECK(triangular.iterations == 200);
  CHECK(triangular.lower == 0);
  CHECK(triangular.async_guarantee() == AsyncGuarantee::guaranteed);
}

TEST_CASE("Jacobi's spectrum: a zero on the diagonal is refused on every rank, with its row") {
  const auto world = Communicator::collective_world();
  auto reference = poisson("poisson2d:9x8");
  reference[50].erase(50);
  MatrixSystem system(world, reference);
  CHECK_THROWS_AS(collective_estimate_jacobi_spectrum(system.op()), comm_thread::InputError);
}

}  // namespace
}  // namespace weft::solver
