#include <cmath>
#include <cstdint>
#include <initializer_list>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/sweep/sync_iteration.h"
#include "solver/sweepers/grid_sweeper.h"
#include "spmv/grid/diffusion_problem.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/modes/mode.h"
#include "tests/support/grid_reference.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using spmv::DiffusionProblem;
using spmv::Mode;
using tests::ReferenceDiffusion;

constexpr double tolerance = 1e-4;

/// Jacobi on one rank, as the problem is defined.
struct SerialJacobi {
  SerialJacobi(const DiffusionProblem& problem, int check_period) : grid(problem) {
    const double b_square =
        problem.source_square({{0, 0, 0}, {problem.grid.x, problem.grid.y, problem.grid.z}});
    const auto residual = [&] {
      return std::sqrt(tests::exact_sum(grid.residual_squares()) / b_square);
    };
    while (iterations % check_period != 0 || residual() >= tolerance) {
      grid.sweep();
      ++iterations;
    }
  }

  ReferenceDiffusion grid;
  std::int64_t iterations = 0;
};

/// Iterates in `mode` and compares with the serial loop.
void check(const Communicator& world, const DiffusionProblem& problem, const SerialJacobi& expected,
           const GridSweeper::Options& options, Mode mode, int check_period) {
  CAPTURE(problem.grid.x, options.halo_depth, spmv::name(mode), check_period);
  const comm_thread::ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  comm_thread::CommThread comm_thread({.thread_level = tests::session().thread_level()});
  GridSweeper sweeper(world, team, problem, spmv::GridPartition(problem.grid, world.size()),
                      options);
  const IterationReport report =
      SyncIteration(world, comm_thread, sweeper,
                    {.mode = mode, .tolerance = tolerance, .check_period = check_period})
          .run(sweeper.source_norm());
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.relative_residual < tolerance);
  CHECK(report.iterations == expected.iterations);
  std::int64_t wrong_count = 0;
  for (const spmv::GridBox& point : tests::points(sweeper.layout().own())) {
    const auto [x, y, z] = point.begin;
    wrong_count +=
        sweeper.values()[sweeper.layout().index(x, y, z)] != expected.grid.value(x, y, z);
  }
  CHECK(wrong_count == 0);
}

void check_modes(const DiffusionProblem& problem, int check_period,
                 std::initializer_list<Mode> modes = {Mode::vector, Mode::overlap, Mode::task}) {
  const auto world = Communicator::collective_world();
  const SerialJacobi expected(problem, check_period);
  CHECK(expected.iterations > 0);
  for (const Mode mode : modes)
    for (const int depth : {1, 4})
      check(world, problem, expected, {.halo_depth = depth}, mode, check_period);
}

TEST_CASE("checked every 100 sweeps, as many are made as on one rank, with the same bits") {
  check_modes({{20, 20, 20}}, 100);
  check_modes({{10, 12, 30}}, 100, {Mode::task});
}

TEST_CASE("checked in every sweep, as many are made as on one rank, with the same bits") {
  check_modes({{10, 12, 30}}, 1);
  check_modes({{20, 20, 20}}, 1, {Mode::task});
}

TEST_CASE("halos may last for a number of sweeps that does not divide those between checks") {
  check_modes({{7, 8, 16}}, 7);
}

TEST_CASE("a lift changes the number of sweeps as it does on one rank") {
  check_modes({{7, 8, 16}, 1}, 5);
}

}  // namespace
}  // namespace weft::solver
