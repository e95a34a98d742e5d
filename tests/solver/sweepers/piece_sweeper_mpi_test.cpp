#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/sync_iteration.h"
#include "solver/sweepers/piece_sweeper.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/sweep/sweeper_driver.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::DetectorKind;
using comm_thread::TeamThread;
using spmv::Problem;
using tests::MatrixSystem;
using tests::multiply;
using tests::ReferenceMatrix;
using tests::SweeperDriver;
using tests::Vector;
using Kind = PieceSweeper::Kind;

Vector some_vector(std::size_t size) {
  Vector b;
  for (std::size_t i = 0; i < size; ++i) b.push_back(static_cast<double>(i * i % 17) - 7.5);
  return b;
}

/// x after `count` iterations with the preconditioner, on one rank and thread.
Vector reference(const ReferenceMatrix& a, const Vector& b, const PieceSweeper::Options& options,
                 int count) {
  const auto alone = Communicator::self();
  MatrixSystem system(alone, a, 1);
  SchwarzPreconditioner inverse(system.op(), options);
  Vector x(b.size());
  for (int k = 0; k < count; ++k) {
    Vector r = b;
    const Vector product = multiply(a, x);
    for (std::size_t i = 0; i < b.size(); ++i) r[i] -= product[i];
    Vector z(b.size());
    system.op().team().run(
        [&](const TeamThread& thread) { inverse.apply(thread, r.data(), z.data()); });
    for (std::size_t i = 0; i < b.size(); ++i) x[i] += z[i];
  }
  return x;
}

double norm(const Vector& v) {
  double square = 0;
  for (const double value : v) square += value * value;
  return std::sqrt(square);
}

}  // namespace

TEST_CASE("sweeps do what the preconditioner does, to the last bit on any ranks") {
  const ReferenceMatrix a = tests::reference_matrix(Problem::parse("poisson2d:13x11"));
  const Vector b = some_vector(a.size());
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  for (const Kind kind : {Kind::restricted, Kind::optimized})
    for (const int pieces : {4, 9})
      for (const int overlap : {0, 1, 3}) {
        if (kind == Kind::optimized && overlap == 0) continue;
        CAPTURE(name(kind), pieces, overlap);
        const PieceSweeper::Options options{
            .kind = kind, .piece_count = pieces, .overlap = overlap};
        const Vector expected = reference(a, b, options, 5);
        MatrixSystem system(world, a);
        const Vector own_b = system.part_of(b);
        PieceSweeper together(system.op(), own_b, options);
        MatrixSystem serial(alone, a, 1);
        PieceSweeper whole(serial.op(), b, options);
        SweeperDriver steps(system.communicator(), system.comm_thread(), together);
        SweeperDriver serial_steps(serial.communicator(), serial.comm_thread(), whole);
        for (int k = 0; k < 5; ++k) {
          const auto parts = k % 2 == 0 ? SweeperDriver::Parts::one : SweeperDriver::Parts::two;
          CHECK(steps.sweep(SweeperDriver::Halo::fresh, parts) == serial_steps.sweep());
        }
        for (std::size_t i = 0; i < expected.size(); ++i)
          CHECK(whole.solution()[i] == Approx(expected[i]).margin(1e-12));
        const auto first = static_cast<std::size_t>(together.first_row());
        for (std::size_t i = 0; i < together.solution().size(); ++i)
          CHECK(together.solution()[i] == whole.solution()[first + i]);
        CHECK(steps.residual_square() == serial_steps.residual_square());
        together.team().run([&](const TeamThread& thread) { together.record(thread); });
        CHECK(steps.residual_square_of_record() == serial_steps.residual_square());
      }
}

TEST_CASE("synchronously and asynchronously the true residual falls below the tolerance") {
  const ReferenceMatrix a = tests::reference_matrix(Problem::parse("poisson2d:24x24"));
  const Vector b(a.size(), 1.0);
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  const Vector own_b = system.part_of(b);
  for (const auto partition : {PieceSweeper::Partition::rows, PieceSweeper::Partition::graph})
    for (const Kind kind : {Kind::restricted, Kind::optimized}) {
      CAPTURE(name(kind), partition == PieceSweeper::Partition::graph);
      const PieceSweeper::Options options{.kind = kind, .piece_count = 8, .partition = partition};
      PieceSweeper in_step(system.op(), own_b, options);
      SyncIteration::Options sync;
      sync.tolerance = 1e-6;
      sync.check_period = 1;
      sync.max_iterations = 1000;
      const IterationReport report =
          SyncIteration(world, system.comm_thread(), in_step, sync).run(norm(b));
      CHECK(report.status == SolveStatus::converged);
      CHECK(report.relative_residual < 1e-6);
      for (const auto detector : {DetectorKind::residual, DetectorKind::snapshot}) {
        PieceSweeper sweeper(system.op(), own_b, options);
        AsyncIteration::Options async;
        async.tolerance = 1e-6;
        async.detector = detector;
        async.max_iterations = 200'000;
        const IterationReport found =
            AsyncIteration(world, system.comm_thread(), sweeper, async).run(norm(b));
        CHECK(found.status == SolveStatus::converged);
        CHECK(found.relative_residual < 1e-6);
        SweeperDriver check(system.communicator(), system.comm_thread(), sweeper);
        CHECK(std::sqrt(check.residual_square()) < 1e-6 * norm(b));
      }
    }
}

TEST_CASE("optimized pieces converge in fewer iterations") {
  const ReferenceMatrix a = tests::reference_matrix(Problem::parse("poisson2d:32x32"));
  const Vector b(a.size(), 1.0);
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  const Vector own_b = system.part_of(b);
  const auto sweeps = [&](Kind kind) {
    PieceSweeper sweeper(system.op(), own_b, {.kind = kind, .piece_count = 4});
    SweeperDriver steps(system.communicator(), system.comm_thread(), sweeper);
    return steps.sweeps_to(1e-6, norm(b), 1000);
  };
  const int optimized = sweeps(Kind::optimized);
  CHECK(2 * optimized < sweeps(Kind::restricted));
}

TEST_CASE("what makes no iteration is refused on every rank") {
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, tests::reference_matrix(Problem::parse("poisson2d:6")));
  const Vector b = system.part_of(Vector(36, 1.0));
  CHECK_THROWS_AS(PieceSweeper(system.op(), b, {.kind = Kind::symmetric}), comm_thread::InputError);
  CHECK_THROWS_AS(PieceSweeper(system.op(), b, {.kind = Kind::restricted, .piece_count = 37}),
                  comm_thread::InputError);
  if (world.size() > 1)
    CHECK_THROWS_AS(PieceSweeper(system.op(), b, {.kind = Kind::restricted, .piece_count = 1}),
                    comm_thread::InputError);
}

}  // namespace weft::solver
