#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/termination/detector_kind.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/sync_iteration.h"
#include "solver/tiles/box_solver_kind.h"
#include "solver/tiles/schwarz_problem.h"
#include "solver/tiles/tile_partition.h"
#include "solver/tiles/tile_sweeper.h"
#include "spmv/problems/right_hand_side.h"
#include "tests/solver/sweep/sweeper_driver.h"
#include "tests/solver/tiles/schwarz_reference.h"
#include "tests/solver/tiles/tile_system.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

TEST_CASE(
    "synchronous iteration takes as many sweeps to the same values as the dense method, in any "
    "mode") {
  const auto world = Communicator::collective_world();
  for (const SchwarzProblem& problem : problems()) {
    SchwarzReference reference(problem);
    const int expected = reference.sweep_to(1e-7, most_sweeps);
    const bool is_expected = expected < most_sweeps;
    for (const spmv::Mode mode : {spmv::Mode::vector, spmv::Mode::overlap, spmv::Mode::task})
      for (const BoxSolverKind kind : {BoxSolverKind::cholmod, BoxSolverKind::tensor}) {
        CAPTURE(problem.tiles_per_side, problem.points_per_side, problem.overlap, problem.alpha);
        System system(world, problem, 1e-7, tests::thread_count(), kind);
        const IterationReport report = system.iterate(mode);
        CHECK((report.status == SolveStatus::converged) == is_expected);
        CHECK(report.iterations == expected);
        CHECK(system.largest_difference(reference) < 1e-9);
        CHECK((system.unconverged_count() == 0) == is_expected);
      }
  }
}

TEST_CASE("values and residuals have the bits of one rank with one thread") {
  const auto world = Communicator::collective_world();
  const auto self = Communicator::self();
  for (const SchwarzProblem& problem : all_problems())
    for (const BoxSolverKind kind : {BoxSolverKind::cholmod, BoxSolverKind::tensor}) {
      CAPTURE(problem.tiles_per_side, problem.points_per_side, problem.overlap, problem.alpha);
      System alone(self, problem, 1e-7, 1, kind);
      System system(world, problem, 1e-7, tests::thread_count(), kind);
      const IterationReport expected = alone.iterate(spmv::Mode::vector, 12);
      const IterationReport report = system.iterate(spmv::Mode::task, 12);
      CHECK(report.iterations == expected.iterations);
      CHECK(report.relative_residual == expected.relative_residual);
      const auto tiles = system.sweeper().tiles();
      CHECK(system.bits(tiles) == alone.bits(tiles));
    }
}

TEST_CASE("what is small on the whole but not on every tile has not converged") {
  const auto world = Communicator::collective_world();
  const SchwarzProblem problem = problem_of(3, 3, 1, 0.1, "x-random:3");
  SchwarzReference reference(problem);
  int sweeps = 0;
  while (reference.unconverged_count(1e-2) == 9) {
    reference.sweep();
    ++sweeps;
  }
  System system(world, problem, 1e-2);
  const double b_square = system.driver().residual_square();
  for (int i = 0; i < sweeps; ++i) system.driver().sweep_only();
  CHECK(std::abs(system.driver().residual_square() - reference.residual_square()) <
        1e-9 * b_square);
  CHECK(reference.unconverged_count(1e-2) > 0);
  CHECK(system.unconverged_count() == reference.unconverged_count(1e-2));
}

TEST_CASE("sweeps without an exchange between ranks go on from what came last") {
  const auto world = Communicator::collective_world();
  const SchwarzProblem problem = problem_of(3, 3, 1, 0.1);
  System system(world, problem);
  SchwarzReference reference(problem);
  const TilePartition partition(problem.tiles_per_side, world.size());
  for (int i = 0; i < 9; ++i) {
    system.driver().sweep_only(i % 3 == 0 ? Halo::fresh : Halo::old);
    if (i % 3 == 0)
      reference.sweep();
    else
      reference.sweep_without_exchange(partition);
    CHECK(system.largest_difference(reference) < 1e-10);
  }
}

TEST_CASE("values that nobody asked for are there as soon as somebody does") {
  const auto world = Communicator::collective_world();
  for (const SchwarzProblem& problem : large_problems())
    for (const int period : {1, 3, 8, 11}) {
      CAPTURE(problem.tiles_per_side, problem.points_per_side, problem.overlap, period);
      System system(world, problem, 1e-7, tests::thread_count(), BoxSolverKind::tensor);
      System always(world, problem, 1e-7, tests::thread_count(), BoxSolverKind::cholmod);
      for (int i = 1; i <= 22; ++i) {
        system.driver().sweep_only();
        always.driver().sweep_only();
        if (i % period != 0) continue;
        const double bound = 1e-12 * always.largest_value();
        CHECK(system.largest_difference(always) < bound);
        system.driver().sweep_in_vain();
        CHECK(system.largest_difference(always) < bound);
      }
    }
}

TEST_CASE("with the newest values one thread solves one tile after the other, to and fro") {
  for (const SchwarzProblem& problem : problems())
    for (const BoxSolverKind kind : {BoxSolverKind::cholmod, BoxSolverKind::tensor}) {
      CAPTURE(problem.tiles_per_side, problem.points_per_side, problem.overlap, problem.alpha);
      System system(Communicator::self(), problem, 1e-7, 1, kind, Order::most_changed);
      SchwarzReference reference(problem);
      int solved = 0;
      for (int i = 0; i < 12; ++i) {
        system.driver().sweep_only();
        solved += reference.sweep_in_turn(i % 2 == 0);
        if (i % 3 != 1) CHECK(system.largest_difference(reference) < 1e-10);
        CHECK(system.sweeper().solve_count() == solved);
      }
      CHECK(std::abs(system.driver().residual_square() - reference.residual_square()) <
            1e-9 * system.source_square());
    }
}

TEST_CASE("tiles that have little to gain are not solved again") {
  const SchwarzProblem problem = problem_of(6, 6, 1, 0.1);
  System system(Communicator::self(), problem, 1e-7, 2, BoxSolverKind::cholmod,
                Order::most_changed);
  int sweeps = 0;
  do {
    system.driver().sweep_only();
    system.driver().residual_square();
  } while (++sweeps < most_sweeps && system.unconverged_count() > 0);
  CHECK(system.unconverged_count() == 0);
  CHECK(system.sweeper().solve_count() < 36 * sweeps * 7 / 10);
  CHECK(system.sweeper().solve_count() > 36 * sweeps / 10);
}

TEST_CASE("tiles are judged converged after the very sweep after which they are") {
  for (const SchwarzProblem& problem : all_problems())
    for (const double tolerance : {1e-1, 1e-4, 1e-7}) {
      CAPTURE(problem.tiles_per_side, problem.points_per_side, problem.overlap, problem.alpha);
      System system(Communicator::self(), problem, tolerance, 1, BoxSolverKind::tensor,
                    Order::most_changed);
      bool is_converged = false;
      for (int sweeps = 0; !is_converged && sweeps < 60; ++sweeps) {
        system.driver().sweep_and_judge();
        const bool is_judged_converged = system.unconverged_count() == 0;
        if (sweeps % 2 == 0)
          system.driver().residual_square();  // of all, or what was judged is kept
        if (is_judged_converged) system.driver().residual_square();
        is_converged = system.unconverged_count() == 0;
        CHECK(is_judged_converged == is_converged);
      }
    }
}

TEST_CASE("with the newest values threads converge to the same solution with fewer solves") {
  const SchwarzProblem problem = problem_of(5, 3, 2, 0.05, "x-random:1");
  System old_values(Communicator::self(), problem, 1e-7, 3);
  System newest_values(Communicator::self(), problem, 1e-7, 3, BoxSolverKind::cholmod,
                       Order::most_changed);
  const auto solves_to_end = [](System& system) {
    int sweeps = 0;
    do {
      system.driver().sweep_only();
      system.driver().residual_square();
    } while (++sweeps < most_sweeps && system.unconverged_count() > 0);
    return system.sweeper().solve_count();
  };
  CHECK(solves_to_end(newest_values) < solves_to_end(old_values));
  SchwarzReference reference(problem);
  reference.sweep_to(1e-7, most_sweeps);
  CHECK(newest_values.largest_difference(reference) < 1e-4);
}

TEST_CASE("the residual of a record is that of the state recorded, while sweeps go on") {
  const auto world = Communicator::collective_world();
  for (const SchwarzProblem& problem : all_problems()) {
    CAPTURE(problem.tiles_per_side, problem.points_per_side, problem.overlap, problem.alpha);
    System system(world, problem, 1e-7, tests::thread_count(), BoxSolverKind::tensor);
    System same(world, problem, 1e-7, tests::thread_count(), BoxSolverKind::tensor);
    for (int i = 0; i < 2; ++i) {
      system.driver().sweep_only();
      same.driver().sweep_only();
    }
    const double recorded = same.driver().residual_square();
    system.driver().record();
    CHECK(system.driver().residual_square_of_record() == recorded);
    system.driver().sweep_only();
    system.driver().sweep_only();
    CHECK(system.driver().residual_square_of_record() == recorded);
    CHECK(system.driver().residual_square() != recorded);
  }
}

TEST_CASE("asynchronously, every detector ends when all tiles have converged") {
  const auto world = Communicator::collective_world();
  using comm_thread::DetectorKind;
  for (const SchwarzProblem& problem :
       {problem_of(3, 3, 1, 0.1, "x-random:3"), problem_of(4, 4, 2, 0.2)}) {
    SchwarzReference reference(problem);
    reference.sweep_to(1e-7, most_sweeps);
    for (const DetectorKind detector : {DetectorKind::flags, DetectorKind::residual,
                                        DetectorKind::all_reduce, DetectorKind::snapshot})
      for (const Order order : {Order::at_once, Order::most_changed}) {
        CAPTURE(problem.tiles_per_side, comm_thread::name(detector), order == Order::at_once);
        System system(world, problem, 1e-7, tests::thread_count(), BoxSolverKind::cholmod, order);
        const IterationReport report =
            system.iterate_asynchronously({.contribution_period = 1, .detector = detector});
        CHECK(report.status == SolveStatus::converged);
        CHECK(report.relative_residual < 1e-7);
        CHECK(std::abs(system.driver().residual_square()) < 1e-14 * system.source_square());
        CHECK(system.unconverged_count() == 0);
        CHECK(system.largest_difference(reference) < 1e-4);
      }
  }
}

TEST_CASE("asynchronously, and solving for edges only, every detector ends at the solution") {
  const auto world = Communicator::collective_world();
  using comm_thread::DetectorKind;
  const SchwarzProblem problem = large_problems().front();
  System synchronous(world, problem, 1e-10);
  synchronous.iterate(spmv::Mode::vector);
  for (const DetectorKind detector : {DetectorKind::flags, DetectorKind::residual,
                                      DetectorKind::all_reduce, DetectorKind::snapshot}) {
    CAPTURE(comm_thread::name(detector));
    System system(world, problem, 1e-10, tests::thread_count(), BoxSolverKind::tensor,
                  Order::most_changed);
    const IterationReport report =
        system.iterate_asynchronously({.contribution_period = 4, .detector = detector});
    CHECK(report.status == SolveStatus::converged);
    CHECK(system.unconverged_count() == 0);
    CHECK(system.largest_difference(synchronous) < 1e-6 * synchronous.largest_value());
  }
}

TEST_CASE("a run of fixed time does not end because of convergence") {
  const auto world = Communicator::collective_world();
  const SchwarzProblem problem = problem_of(3, 3, 1, 0.1);
  constexpr double met_at_once = 1e9;
  CHECK(System(world, problem, met_at_once).iterate(spmv::Mode::task).iterations == 0);
  const IterationReport synchronous = System(world, problem, met_at_once).iterate_for(0.5);
  CHECK(synchronous.iterations > 0);
  CHECK(synchronous.status == SolveStatus::converged);
  const IterationReport without_waiting =
      System(world, problem, met_at_once)
          .iterate_asynchronously({.contribution_period = 1, .fixed_seconds = 0.5});
  CHECK(world.max(without_waiting.seconds) >= 0.5);
  CHECK(without_waiting.status == SolveStatus::converged);
  // A time that is over before the first residual.
  const IterationReport stopped = System(world, problem).iterate_for(1e-9);
  CHECK(stopped.status == SolveStatus::not_converged);
  CHECK(stopped.iterations == 0);
}

TEST_CASE("tiles with equal matrices share a solver") {
  System system(Communicator::self(), problem_of(5, 3, 1, 0.1));
  CHECK(system.sweeper().solver_count() == 9);
  System small(Communicator::self(), problem_of(2, 3, 1, 0.1));
  CHECK(small.sweeper().solver_count() == 4);
}

TEST_CASE("fewer tiles than ranks are refused on every rank") {
  const auto world = Communicator::collective_world();
  if (world.size() == 1) return;
  CHECK_THROWS_AS(System(world, problem_of(1, 3, 1, 0.1)), comm_thread::InputError);
}

}  // namespace
}  // namespace weft::solver
