#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/lobpcg.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "spmv/modes/mode.h"
#include "tests/solver/eigen/square_elements.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using namespace tests::square_elements;

TEST_CASE("lobpcg finds both ends of a problem with a mass matrix, with all copies",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const std::vector<double> exact = exact_values();
  MatrixSystem a(world, stiffness_of_square());
  MatrixSystem b(world, mass_of_square());
  DiagonalPreconditioner diagonal(a.op());
  for (const SpectrumEnd end : {SpectrumEnd::smallest, SpectrumEnd::largest}) {
    Lobpcg lobpcg(a.op(), &b.op(), &diagonal, {.count = 5, .end = end});
    const EigenReport report = lobpcg.collective_solve();
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.orthogonality < 1e-12);
    CHECK(report.method == "lobpcg");
    for (std::size_t i = 0; i < 5; ++i) {
      const EigenPair& pair = report.pairs[i];
      const double expected = end == SpectrumEnd::smallest ? exact[i] : exact[exact.size() - 1 - i];
      CHECK(std::abs(pair.value - expected) <= pair.error_bound + 1e-12);
      CHECK(pair.error_bound < 1e-5);
      CHECK(pair.residual <= 1e-8 * report.norm);
    }
  }
}

TEST_CASE("lobpcg without a mass matrix or a preconditioner, of numbers of any size",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  for (const double scale : {1.0, 0x1p-900, 0x1p900}) {
    ReferenceMatrix identity_added(std::size_t{points} * points);
    add_product(stiffness, Line{0, 1}, identity_added);
    add_product(Line{0, 1}, stiffness, identity_added);
    for (auto& row : identity_added)
      for (auto& entry : row) entry.second *= scale;
    MatrixSystem a(world, identity_added);
    Lobpcg lobpcg(a.op(), nullptr, nullptr, {.count = 3});
    const EigenReport report = lobpcg.collective_solve();
    CHECK(report.status == SolveStatus::converged);
    const double line = 2 - 2 * std::cos(std::numbers::pi / (points + 1));
    const double next = 2 - 2 * std::cos(2 * std::numbers::pi / (points + 1));
    CHECK(report.pairs[0].value / scale == Approx(2 * line).epsilon(1e-9));
    CHECK(report.pairs[1].value / scale == Approx(line + next).epsilon(1e-9));
    CHECK(report.pairs[2].value / scale == Approx(line + next).epsilon(1e-9));
  }
}

TEST_CASE("lobpcg gives all eigenvalues of a matrix of few rows", "[collective]") {
  const auto& world = Communicator::collective_world();
  ReferenceMatrix matrix(5);
  for (std::size_t i = 0; i < 5; ++i)
    matrix[i][static_cast<std::int64_t>(i)] = i < 2 ? 1 : static_cast<double>(i);
  MatrixSystem a(world, matrix);
  Lobpcg lobpcg(a.op(), nullptr, nullptr, {.count = 5});
  const EigenReport report = lobpcg.collective_solve();
  CHECK(report.status == SolveStatus::converged);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(report.pairs[i].value == Approx(i < 2 ? 1 : static_cast<double>(i)).epsilon(1e-12));
}

TEST_CASE("a mass matrix that is not positive definite, and too many values are refused",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  MatrixSystem a(world, stiffness_of_square());
  ReferenceMatrix indefinite = mass_of_square();
  indefinite[7][7] = -1;
  MatrixSystem b(world, indefinite);
  CHECK_THROWS_AS(Lobpcg(a.op(), &b.op(), nullptr, {}), comm_thread::InputError);
  CHECK_THROWS_AS(Lobpcg(a.op(), nullptr, nullptr, {.count = 51}), comm_thread::InputError);
}

TEST_CASE("the bits of lobpcg do not depend on ranks, threads and modes", "[collective]") {
  const auto& world = Communicator::collective_world();
  const Communicator alone = Communicator::self();
  MatrixSystem a(world, stiffness_of_square());
  MatrixSystem b(world, mass_of_square());
  MatrixSystem one_a(alone, stiffness_of_square(), 1);
  MatrixSystem one_b(alone, mass_of_square(), 1);
  DiagonalPreconditioner diagonal(a.op());
  DiagonalPreconditioner of_one(one_a.op());
  Lobpcg reference(one_a.op(), &one_b.op(), &of_one, {.count = 4, .mode = spmv::Mode::vector});
  const EigenReport expected = reference.collective_solve();
  for (const spmv::Mode mode : {spmv::Mode::vector, spmv::Mode::task}) {
    Lobpcg lobpcg(a.op(), &b.op(), &diagonal, {.count = 4, .mode = mode});
    const EigenReport report = lobpcg.collective_solve();
    CHECK(report.restarts == expected.restarts);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(report.pairs[i].value == expected.pairs[i].value);
      CHECK(report.pairs[i].error_bound == expected.pairs[i].error_bound);
      CHECK(lobpcg.collective_vector(static_cast<int>(i)) ==
            a.part_of(reference.collective_vector(static_cast<int>(i))));
    }
  }
}

}  // namespace
}  // namespace weft::solver
