#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "solver/multigrid/sweepers/multigrid_sweeper.h"
#include "solver/sweep/sync_iteration.h"
#include "tests/solver/multigrid/sweepers/grid_problem.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using spmv::GlobalIndex;
using spmv::GridBox;
using spmv::Mode;
using tests::GridProblem;
using Cycle = MultigridSweeper::Cycle;

struct Outcome {
  IterationReport report;
  std::vector<std::int64_t> bits;  // of all values, on every rank
};

/// Iterates as the program does.
Outcome collective_iterate(GridProblem& problem, const MultigridSweeper::Options& options) {
  MultigridSweeper sweeper(problem.op, problem.b, options);
  const double b_norm = problem.b_norm();
  SyncIteration iteration(problem.communicator, problem.comm_thread, sweeper,
                          {.mode = options.mode,
                           .tolerance = 1e-8,
                           .max_iterations = 30,
                           .check_period = 1,
                           .on_check = [&](std::int64_t, double residual) {
                             sweeper.set_square(residual * residual * b_norm * b_norm);
                           }});
  Outcome outcome;
  outcome.report = iteration.run(b_norm);
  const GridValues& values = sweeper.values();
  const spmv::GridSize grid = problem.op.stencil().grid;
  const GridBox& own = values.layout().own();
  outcome.bits.resize(static_cast<std::size_t>(grid.x * grid.y * grid.z));
  for (GlobalIndex z = own.begin[2]; z < own.end[2]; ++z)
    for (GlobalIndex y = own.begin[1]; y < own.end[1]; ++y)
      for (GlobalIndex x = own.begin[0]; x < own.end[0]; ++x)
        outcome.bits[static_cast<std::size_t>(x + grid.x * (y + grid.y * z))] =
            std::bit_cast<std::int64_t>(values.x()[values.layout().index(x, y, z)]);
  problem.communicator.sum(outcome.bits);  // each is one rank's
  return outcome;
}

TEST_CASE("a cycle a sweep converges with the same bits on any ranks and in any mode") {
  for (const std::string word :
       {"poisson3d:31x24x40", "poisson3d27:24", "poisson2d:40x62", "anisotropic3d:24x24x30,1,1,20"})
    for (const Cycle cycle : {Cycle::additive, Cycle::multiplicative}) {
      GridProblem alone(Communicator::self(), 1, word);
      const Outcome expected = collective_iterate(alone, {.cycle = cycle, .mode = Mode::vector});
      CAPTURE(word, cycle == Cycle::additive);
      CHECK(expected.report.status == SolveStatus::converged);
      CHECK(expected.report.iterations <= 14);
      for (const Mode mode : {Mode::vector, Mode::overlap, Mode::task}) {
        CAPTURE(name(mode));
        GridProblem problem(Communicator::collective_world(), tests::thread_count(), word);
        const Outcome found = collective_iterate(problem, {.cycle = cycle, .mode = mode});
        CHECK(found.report.iterations == expected.report.iterations);
        CHECK(found.report.relative_residual == expected.report.relative_residual);
        CHECK(found.bits == expected.bits);
      }
    }
}

TEST_CASE("the additive cycle takes as many sweeps as the V-cycle, on grids of any size") {
  for (const std::string word : {"poisson3d:17", "poisson3d:32", "poisson3d:63"}) {
    CAPTURE(word);
    GridProblem problem(Communicator::collective_world(), tests::thread_count(), word);
    const auto additive = collective_iterate(problem, {.cycle = Cycle::additive}).report;
    const auto multiplicative =
        collective_iterate(problem, {.cycle = Cycle::multiplicative}).report;
    CHECK(additive.iterations == multiplicative.iterations);
    CHECK(additive.iterations <= 11);
  }
}

TEST_CASE("a box that is thinner than its halo is refused on every rank") {
  if (Communicator::collective_world().size() == 1) return;
  GridProblem problem(Communicator::collective_world(), tests::thread_count(), "poisson3d:3");
  CHECK_THROWS_AS(MultigridSweeper(problem.op, problem.b, {}), comm_thread::InputError);
}

}  // namespace
}  // namespace weft::solver
