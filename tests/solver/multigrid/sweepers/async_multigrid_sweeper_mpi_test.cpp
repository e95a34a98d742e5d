#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/termination/detector_kind.h"
#include "solver/multigrid/sweepers/async_multigrid_sweeper.h"
#include "solver/sweep/async_iteration.h"
#include "tests/solver/multigrid/sweepers/grid_problem.h"
#include "tests/solver/sweep/sweeper_driver.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"
#include "tests/support/transport_names.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::DetectorKind;
using comm_thread::TeamThread;
using tests::GridProblem;

constexpr double tolerance = 1e-8;

/// ‖b − A·x‖ of the values of all ranks, by the operator's own product.
double collective_true_residual(GridProblem& problem, const GridValues& values) {
  const auto x = problem.op.collective_make_operand();
  std::vector<double> y(problem.op.element_count());
  const spmv::GridBox& own = problem.op.layout().own();
  const auto for_each_own = [&](const auto& visit) {
    for (spmv::GlobalIndex k = own.begin[2]; k < own.end[2]; ++k)
      for (spmv::GlobalIndex j = own.begin[1]; j < own.end[1]; ++j)
        for (spmv::GlobalIndex i = own.begin[0]; i < own.end[0]; ++i)
          visit(problem.op.layout().index(i, j, k), values.layout().index(i, j, k));
  };
  for_each_own([&](std::size_t to, std::size_t from) { x->values()[to] = values.x()[from]; });
  perfmodel::PhaseTimer timer;
  problem.team.run([&](const TeamThread& thread) {
    problem.op.apply(thread, spmv::Mode::vector, *x, y.data(), timer, {});
  });
  double sum = 0;
  for_each_own(
      [&](std::size_t i, std::size_t) { sum += (problem.b[i] - y[i]) * (problem.b[i] - y[i]); });
  return std::sqrt(problem.communicator.sum(sum));
}

/// One run to the tolerance, and what must hold after every one; returns the fewest corrections
/// that a rank has added.
std::int64_t collective_solve(const std::string& word,
                              const AsyncMultigridSweeper::Options& settings,
                              AsyncIteration::Options options) {
  GridProblem problem(Communicator::collective_world(), tests::thread_count(), word);
  AsyncMultigridSweeper sweeper(problem.op, problem.b, settings);
  options.tolerance = tolerance;
  options.transport = settings.transport;
  options.contribution_period = 1;
  options.max_in_flight = 4;
  const double b_norm = problem.b_norm();
  const IterationReport report =
      AsyncIteration(problem.communicator, problem.comm_thread, sweeper, options).run(b_norm);
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.relative_residual < tolerance);
  const double residual = collective_true_residual(problem, sweeper.values()) / b_norm;
  CHECK(residual == Approx(report.relative_residual).epsilon(1e-3));
  return problem.communicator.min(sweeper.correction_count());
}

TEST_CASE("asynchronous multigrid converges on grids of any shape, to the true residual") {
  for (const std::string word : {"poisson3d:40x37x48", "poisson3d:48", "poisson3d27:40",
                                 "poisson2d:96x80", "anisotropic3d:40x40x44,1,1,20"})
    for (const int steps : {2, 4}) {
      CAPTURE(word, steps);
      collective_solve(word, {.steps = steps}, {});
    }
}

TEST_CASE("asynchronous multigrid converges over every transport and with every detector") {
  for (const std::string& transport : tests::transport_names()) {
    CAPTURE(transport);
    collective_solve("poisson3d:40", {.transport = comm_thread::transport_choice(transport)}, {});
  }
  for (const DetectorKind detector : {DetectorKind::flags, DetectorKind::residual,
                                      DetectorKind::all_reduce, DetectorKind::snapshot})
    collective_solve("poisson3d:40", {}, {.detector = detector});
}

TEST_CASE("asynchronous multigrid converges beside slow, stalled and uneven ranks") {
  const Communicator world = Communicator::collective_world();
  const int last = world.size() - 1;
  const std::string name = std::to_string(last);
  const std::vector<std::string> faults{"slow:0:8", "slow:" + name + ":8", "jitter:3",
                                        "stall:" + name + ":0.2", "stall:0:0.2"};
  for (const std::string& fault : faults) {
    CAPTURE(fault);
    collective_solve("poisson3d:40", {},
                     {.disturbance = Disturbance({Fault::parse(fault)}, world.rank())});
  }
}

TEST_CASE("the slowest rank takes as many corrections on small grids as on large ones") {
  for (const std::string word : {"poisson3d:32", "poisson3d:64"}) {
    CAPTURE(word);
    CHECK(collective_solve(word, {}, {}) <= 60);
  }
}

TEST_CASE("in step, asynchronous multigrid takes as many corrections on many ranks as on one") {
  const auto corrections = [](Communicator ranks) {
    GridProblem problem(std::move(ranks), tests::thread_count(), "poisson3d:48");
    AsyncMultigridSweeper sweeper(problem.op, problem.b, {});
    tests::SweeperDriver driver(problem.communicator, problem.comm_thread, sweeper);
    // A rank whose answer has not come looks again; nobody corrects before all can.
    for (int sweep = 0; sweep < 400; ++sweep) {
      driver.sweep_only();
      if (problem.communicator.min(sweeper.correction_count()) >= 14) break;
    }
    return collective_true_residual(problem, sweeper.values()) / problem.b_norm();
  };
  CHECK(corrections(Communicator::collective_world()) < 1e-7);
  CHECK(corrections(Communicator::self()) < 1e-8);
}

TEST_CASE("a box that is thinner than the halo of asynchronous multigrid is refused") {
  if (Communicator::collective_world().size() == 1) return;
  GridProblem problem(Communicator::collective_world(), tests::thread_count(), "poisson3d:6");
  CHECK_THROWS_AS(AsyncMultigridSweeper(problem.op, problem.b, {}), comm_thread::InputError);
}

}  // namespace
}  // namespace weft::solver
