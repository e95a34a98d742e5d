#include <cmath>
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/sync_iteration.h"
#include "solver/sweepers/block_sweeper.h"
#include "solver/sweepers/jacobi_spectrum.h"
#include "solver/sweepers/matrix_sweeper.h"
#include "solver/sweepers/richardson_parameters.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::DetectorKind;
using spmv::Problem;
using tests::MatrixSystem;
using tests::Vector;

/// Poisson's problem on 20×20 points, b = 1.
class Poisson {
 public:
  Poisson()
      : world_(Communicator::collective_world()),
        system_(world_, tests::reference_matrix(Problem::parse("poisson2d:20"))),
        b_(system_.part_of(Vector(400, 1.0))) {}

  MatrixSweeper jacobi(MatrixSweeper::Options options = {}) {
    return MatrixSweeper(system_.op(), b_, options);
  }
  BlockSweeper blocks() { return BlockSweeper(system_.op(), b_, {}); }
  double radius() { return collective_estimate_jacobi_spectrum(system_.op()).estimate; }

  IterationReport run_sync(Sweeper& sweeper, spmv::Mode mode = spmv::Mode::task) {
    SyncIteration::Options options;
    options.mode = mode;
    options.check_period = 10;
    options.max_iterations = 2000;
    return SyncIteration(world_, system_.comm_thread(), sweeper, options).run(b_norm);
  }

  IterationReport run_async(Sweeper& sweeper, DetectorKind detector) {
    AsyncIteration::Options options;
    options.detector = detector;
    options.max_iterations = 200'000;
    return AsyncIteration(world_, system_.comm_thread(), sweeper, options).run(b_norm);
  }

 private:
  static constexpr double b_norm = 20;

  Communicator world_;
  MatrixSystem system_;
  Vector b_;
};

TEST_CASE("synchronous Jacobi and Richardson take as many sweeps on any ranks, in any mode") {
  Poisson poisson;
  const RichardsonParameters fastest = richardson_parameters(poisson.radius());
  for (const spmv::Mode mode : {spmv::Mode::vector, spmv::Mode::overlap, spmv::Mode::task}) {
    auto jacobi = poisson.jacobi();
    const IterationReport slow = poisson.run_sync(jacobi, mode);
    CHECK(slow.status == SolveStatus::converged);
    CHECK(slow.iterations == 810);
    auto richardson = poisson.jacobi({fastest.weight, fastest.momentum});
    const IterationReport fast = poisson.run_sync(richardson, mode);
    CHECK(fast.status == SolveStatus::converged);
    CHECK(fast.iterations == 80);
  }
}

TEST_CASE("few synchronous sweeps over blocks suffice") {
  Poisson poisson;
  auto blocks = poisson.blocks();
  const IterationReport report = poisson.run_sync(blocks);
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.relative_residual < 1e-4);
  CHECK(report.iterations <= 100);
}

TEST_CASE("asynchronously, Jacobi, a little momentum and blocks reach the true tolerance") {
  Poisson poisson;
  for (const DetectorKind detector : {DetectorKind::residual, DetectorKind::snapshot}) {
    auto jacobi = poisson.jacobi();
    auto richardson = poisson.jacobi({1.3, 0.3});
    auto blocks = poisson.blocks();
    for (Sweeper* sweeper : {static_cast<Sweeper*>(&jacobi), static_cast<Sweeper*>(&richardson),
                             static_cast<Sweeper*>(&blocks)}) {
      const IterationReport report = poisson.run_async(*sweeper, detector);
      CHECK(report.status == SolveStatus::converged);
      CHECK(report.relative_residual < 1e-4);
    }
  }
}

}  // namespace
}  // namespace weft::solver
