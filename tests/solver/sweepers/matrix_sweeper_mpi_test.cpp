#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/sweepers/matrix_sweeper.h"
#include "solver/sweepers/richardson_parameters.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/sweep/sweeper_driver.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using spmv::GlobalIndex;
using spmv::Problem;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::SweeperDriver;
using tests::Vector;

bool is_same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
bool is_same(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b, [](double x, double y) { return is_same(x, y); });
}

ReferenceMatrix tridiagonal(std::size_t size) {
  ReferenceMatrix matrix(size);
  for (std::size_t row = 0; row < size; ++row) {
    const auto i = static_cast<GlobalIndex>(row);
    if (row > 0) matrix[row][i - 1] = -1;
    matrix[row][i] = 2;
    if (row + 1 < size) matrix[row][i + 1] = -1;
  }
  return matrix;
}

/// A generated matrix whose diagonal matters.
ReferenceMatrix uneven_matrix(const std::string& word) {
  auto matrix = tests::reference_matrix(Problem::parse(word));
  for (std::size_t row = 0; row < matrix.size(); row += 3)
    matrix[row][static_cast<GlobalIndex>(row)] *= 1 + static_cast<double>(row % 5);
  return matrix;
}

Vector right_hand_side(std::size_t size) {
  Vector b;
  for (std::size_t i = 0; i < size; ++i) b.push_back(std::sin(static_cast<double>(i % 97)));
  return b;
}

/// The iteration on one thread, as its formula says.
struct SerialIteration {
  const ReferenceMatrix& a;
  const Vector& b;
  MatrixSweeper::Options options;
  Vector x = Vector(b.size(), 0.0);
  Vector previous = x;

  Vector residual() const { return residual(tests::multiply(a, x)); }

  Vector residual(const Vector& y) const {
    Vector r = b;
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= y[i];
    return r;
  }

  void sweep(const Vector& r) {
    Vector next = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      next[i] += options.weight / a[i].at(static_cast<GlobalIndex>(i)) * r[i];
      if (options.momentum != 0) next[i] += options.momentum * (x[i] - previous[i]);
    }
    previous = x;
    x = next;
  }
};

TEST_CASE("two sweeps on a 6×6 tridiagonal matrix are those by hand") {
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, tridiagonal(6));
  const Vector b = system.part_of(Vector(6, 1.0));
  MatrixSweeper sweeper(system.op(), b, {});
  SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
  CHECK(iteration.sweep() == 6);
  CHECK(is_same(sweeper.solution(), system.part_of(Vector(6, 0.5))));
  CHECK(iteration.sweep() == 4.5);
  CHECK(is_same(sweeper.solution(), system.part_of({0.75, 1, 1, 1, 1, 0.75})));
  CHECK(iteration.residual_square() == 3.625);
}

TEST_CASE("sweeps and residuals have the bits of the serial iteration, whole or in parts") {
  const auto world = Communicator::collective_world();
  for (const std::string word : {"poisson2d:17x13", "poisson3d:64x16x8", "irregular:2000"})
    for (const MatrixSweeper::Options options :
         {MatrixSweeper::Options{}, MatrixSweeper::Options{0.7, 0},
          MatrixSweeper::Options{1.2, 0.2}}) {
      CAPTURE(word, options.weight, options.momentum);
      const ReferenceMatrix reference = uneven_matrix(word);
      const Vector b = right_hand_side(reference.size());
      SerialIteration expected{reference, b, options};
      MatrixSystem system(world, reference);
      const Vector own_b = system.part_of(b);
      MatrixSweeper sweeper(system.op(), own_b, options);
      SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
      for (int i = 0; i < 6; ++i) {
        const Vector r = expected.residual();
        const auto parts = i % 2 == 0 ? SweeperDriver::Parts::one : SweeperDriver::Parts::two;
        CHECK(is_same(iteration.sweep(SweeperDriver::Halo::fresh, parts), tests::square(r)));
        expected.sweep(r);
        CHECK(is_same(sweeper.solution(), system.part_of(expected.x)));
      }
      CHECK(is_same(iteration.residual_square(), tests::square(expected.residual())));
    }
}

TEST_CASE("the halo stays as it is until it is replaced") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix reference = uneven_matrix("poisson2d:17x13");
  const Vector b = right_hand_side(reference.size());
  const auto partition = spmv::RowPartition::by_rows(std::ssize(reference), world.size());
  for (const double momentum : {0.0, 0.25}) {
    SerialIteration expected{reference, b, {1, momentum}};
    MatrixSystem system(world, reference);
    const Vector own_b = system.part_of(b);
    MatrixSweeper sweeper(system.op(), own_b, {1, momentum});
    SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
    Vector seen_by_others = expected.x;
    for (int i = 0; i < 7; ++i) {
      if (i % 3 == 0) seen_by_others = expected.x;
      Vector y(b.size(), 0.0);
      for (std::size_t row = 0; row < y.size(); ++row)
        for (const auto& [column, value] : reference[row]) {
          const bool is_own =
              partition.owner(column) == partition.owner(static_cast<GlobalIndex>(row));
          y[row] +=
              value * (is_own ? expected.x : seen_by_others)[static_cast<std::size_t>(column)];
        }
      expected.sweep(expected.residual(y));
      iteration.sweep(i % 3 == 0 ? SweeperDriver::Halo::fresh : SweeperDriver::Halo::old);
      CHECK(is_same(sweeper.solution(), system.part_of(expected.x)));
    }
  }
}

TEST_CASE("a sweep that is not taken leaves values, and the momentum, as they are") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix reference = uneven_matrix("poisson2d:17x13");
  const Vector b = right_hand_side(reference.size());
  SerialIteration expected{reference, b, {1, 0.25}};
  MatrixSystem system(world, reference);
  const Vector own_b = system.part_of(b);
  MatrixSweeper sweeper(system.op(), own_b, expected.options);
  SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
  for (int i = 0; i < 4; ++i) {
    const Vector r = expected.residual();
    CHECK(is_same(iteration.sweep_in_vain(), tests::square(r)));
    CHECK(is_same(sweeper.solution(), system.part_of(expected.x)));
    CHECK(is_same(iteration.sweep(), tests::square(r)));
    expected.sweep(r);
  }
}

TEST_CASE("the residual of a recorded state is that of the time of recording") {
  const auto world = Communicator::collective_world();
  for (const std::string word : {"poisson2d:17x13", "irregular:2000"}) {
    const ReferenceMatrix reference = uneven_matrix(word);
    const Vector b = right_hand_side(reference.size());
    SerialIteration expected{reference, b, {1, 0.25}};
    MatrixSystem system(world, reference);
    const Vector own_b = system.part_of(b);
    MatrixSweeper sweeper(system.op(), own_b, expected.options);
    SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
    double recorded = 0;
    for (int i = 0; i < 5; ++i) {
      const Vector r = expected.residual();
      if (i == 2) {
        iteration.record();
        recorded = tests::square(r);
      }
      iteration.sweep();
      expected.sweep(r);
      if (i >= 2) CHECK(is_same(iteration.residual_square_of_record(), recorded));
    }
    CHECK(is_same(sweeper.solution(), system.part_of(expected.x)));
  }
}

TEST_CASE("several sweeps at once are single sweeps with one halo") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix reference = uneven_matrix("poisson2d:17x13");
  const Vector b = right_hand_side(reference.size());
  MatrixSystem system(world, reference);
  const Vector own_b = system.part_of(b);
  MatrixSweeper at_once(system.op(), own_b, {1, 0.25});
  MatrixSweeper singly(system.op(), own_b, {1, 0.25});
  SweeperDriver iteration(system.communicator(), system.comm_thread(), singly);
  CHECK(at_once.sweeps_per_exchange() == 1);
  at_once.team().run([&](const comm_thread::TeamThread& thread) { at_once.advance(thread, 5); });
  for (int i = 0; i < 5; ++i) iteration.sweep(SweeperDriver::Halo::old);
  CHECK(is_same(at_once.solution(), singly.solution()));
}

TEST_CASE("an iteration starts again from a constant") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix reference = uneven_matrix("poisson2d:17x13");
  const Vector b = right_hand_side(reference.size());
  SerialIteration expected{reference, b, {1, 0.25}};
  expected.x = expected.previous = Vector(b.size(), 1.5);
  MatrixSystem system(world, reference);
  const Vector own_b = system.part_of(b);
  MatrixSweeper sweeper(system.op(), own_b, expected.options);
  SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
  iteration.sweep();
  iteration.sweep();
  sweeper.set_values(1.5);
  for (int i = 0; i < 3; ++i) {
    const Vector r = expected.residual();
    // The first sweep finds the constant in the halo, too.
    const auto halo = i == 0 ? SweeperDriver::Halo::old : SweeperDriver::Halo::fresh;
    CHECK(is_same(iteration.sweep(halo), tests::square(r)));
    expected.sweep(r);
    CHECK(is_same(sweeper.solution(), system.part_of(expected.x)));
  }
}

TEST_CASE("matrices with fewer rows than ranks are swept") {
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, tridiagonal(2));
  const Vector b = system.part_of(Vector(2, 1.0));
  MatrixSweeper sweeper(system.op(), b, {});
  SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
  CHECK(iteration.sweep() == 2);
  CHECK(iteration.sweep() == 0.5);
  CHECK(is_same(sweeper.solution(), system.part_of(Vector(2, 0.75))));
}

TEST_CASE("Richardson's second order takes far fewer sweeps than Jacobi") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix reference = tests::reference_matrix(Problem::parse("poisson2d:20"));
  MatrixSystem system(world, reference);
  const Vector b = system.part_of(Vector(reference.size(), 1.0));
  const double b_norm = std::sqrt(static_cast<double>(reference.size()));
  const auto sweeps = [&](MatrixSweeper::Options options) {
    MatrixSweeper sweeper(system.op(), b, options);
    SweeperDriver iteration(system.communicator(), system.comm_thread(), sweeper);
    return iteration.sweeps_to(1e-4, b_norm, 2000);
  };
  const RichardsonParameters fastest = richardson_parameters(std::cos(std::acos(-1.0) / 21));
  // ln(10^-4)/ln(ρ) = 820 for ρ = 0.98883, and 61 for √β; b is more than the slowest mode.
  const int jacobi = sweeps({});
  const int richardson = sweeps({fastest.weight, fastest.momentum});
  CHECK(jacobi > 700);
  CHECK(jacobi < 850);
  CHECK(richardson > 61);
  CHECK(richardson < 110);
}

TEST_CASE("a zero on the diagonal is refused on every rank, with its row") {
  const auto world = Communicator::collective_world();
  auto reference = tests::reference_matrix(Problem::parse("poisson2d:9x8"));
  reference[50][50] = 0;
  reference[60].erase(60);
  MatrixSystem system(world, reference);
  const Vector b = system.part_of(Vector(reference.size(), 1.0));
  CHECK_THROWS_AS(MatrixSweeper(system.op(), b, {}), comm_thread::InputError);
  CHECK_THROWS_WITH(MatrixSweeper(system.op(), b, {}),
                    "row 51 has a zero on the diagonal; expected none, because Jacobi divides by "
                    "it");
}

}  // namespace
}  // namespace weft::solver
