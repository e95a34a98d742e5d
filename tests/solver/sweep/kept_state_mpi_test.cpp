// Sweeps that are interrupted and continued.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/checkpoint/system_checksum.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/kept_state.h"
#include "solver/sweep/sync_iteration.h"
#include "solver/sweepers/grid_sweeper.h"
#include "solver/sweepers/matrix_sweeper.h"
#include "solver/sweepers/piece_sweeper.h"
#include "solver/tiles/async_two_level.h"
#include "solver/tiles/sync_two_level.h"
#include "solver/tiles/tile_sweeper.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/problem.h"
#include "tests/solver/sweep/kept_sweeps.h"
#include "tests/support/mpi_main.h"
#include "tests/support/shared_folder.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

TEST_CASE("synchronous sweeps continue on other ranks and threads with the bits of one run") {
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  const SharedFolder folder(world);
  for (const Case& what : synchronous_cases()) {
    CAPTURE(what.name);
    Place serial(alone, 1);
    Place together(world, tests::thread_count());
    const Swept expected = sweep_in_step(serial, what, no_limit, {});
    CHECK(expected.report.status == SolveStatus::converged);
    const std::int64_t cut = expected.report.iterations * 2 / 3 + 1;
    const std::string file = folder.file("together");
    const Swept first =
        sweep_in_step(together, what, cut, {.path = file, .every_iterations = cut / 2});
    CHECK(first.report.status == SolveStatus::not_converged);
    CHECK(first.checkpoints.failed == 0);
    CHECK(first.checkpoints.written >= 1);
    world.barrier();
    const Swept apart = sweep_in_step(serial, what, no_limit, {.from = file});
    CHECK(apart.checkpoints.first_iteration > 0);
    check_same(apart, expected);
    check_same(sweep_in_step(together, what, no_limit, {.from = file}), expected);
    world.barrier();
  }
}

TEST_CASE("sweeps with old halos continue on as many ranks with the bits of one run") {
  const auto world = Communicator::collective_world();
  const SharedFolder folder(world);
  Case what = synchronous_cases().front();
  what.halo_period = 3;
  Place place(world, tests::thread_count());
  const Swept expected = sweep_in_step(place, what, no_limit, {});
  const std::string file = folder.file("state");
  sweep_in_step(place, what, 90, {.path = file});
  const Swept found = sweep_in_step(place, what, no_limit, {.from = file});
  CHECK(found.checkpoints.first_iteration == 75);
  check_same(found, expected);
}

TEST_CASE("a signal ends synchronous sweeps with a checkpoint, between two checks, too") {
  const auto world = Communicator::collective_world();
  const SharedFolder folder(world);
  Case what = synchronous_cases()[2];
  what.check_period = 1'000'000;
  Place place(world, tests::thread_count());
  const std::string file = folder.file("state");
  const Swept found = sweep_in_step(
      place, what, 10'000'000,
      {.path = file, .stop_signal = [&] { return world.rank() == world.size() - 1 ? 15 : 0; }});
  CHECK(found.signal == 15);
  CHECK(found.checkpoints.written == 1);
  CHECK(found.checkpoints.last_iteration == found.report.iterations);
}

std::vector<Case> asynchronous_cases() {
  return {
      {"grid", [](Place& place) { return make_grid(place, 1); }, 10, 1e-5},
      {"tiles",
       [](Place& place) {
         make_tiles(place, {.tolerance = 1e-6, .order = TileSweeper::Order::most_changed});
         return std::make_unique<Forward>(*place.tiles);
       }},
      {"two levels",
       [](Place& place) {
         make_tiles(place, {.tolerance = 1e-6,
                            .order = TileSweeper::Order::quarters,
                            .relaxation = AsyncTwoLevel::relaxation});
         return std::make_unique<AsyncTwoLevel>(place.communicator, place.comm_thread,
                                                *place.tiles);
       }},
  };
}

Swept sweep_freely(Place& place, const Case& what, std::int64_t most,
                   const Checkpoints::Options& options) {
  return sweep(place, what, options, [&](Sweeper& sweeper, Checkpoints* checkpoints) {
    return AsyncIteration(
               place.communicator, place.comm_thread, sweeper,
               {.tolerance = what.tolerance, .max_iterations = most, .checkpoints = checkpoints})
        .run(what.b_norm);
  });
}

TEST_CASE("asynchronous sweeps continue from what they had on other ranks") {
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  const SharedFolder folder(world);
  for (const Case& what : asynchronous_cases()) {
    CAPTURE(what.name);
    Place serial(alone, 1);
    Place together(world, tests::thread_count());
    const std::string file = folder.file("state");
    // However long the verdict takes that six sweeps are enough, they converge in none of them.
    Case endless = what;
    endless.tolerance = 0;
    const Swept first = sweep_freely(together, endless, 6, {.path = file, .every_iterations = 2});
    CHECK(first.report.status == SolveStatus::not_converged);
    CHECK(first.checkpoints.failed == 0);
    CHECK(first.checkpoints.written >= 1);
    world.barrier();
    for (Place* const place : {&serial, &together}) {
      const Swept rest = sweep_freely(*place, what, 1'000'000, {.from = file});
      if (world.is_root())  // whose number of sweeps is in the file
        CHECK(rest.checkpoints.first_iteration == first.checkpoints.last_iteration);
      CHECK(rest.report.status == SolveStatus::converged);
      CHECK(rest.report.iterations > rest.checkpoints.first_iteration);
    }
    world.barrier();
  }
}

TEST_CASE("many checkpoints of ranks that wait for nobody are all whole") {
  const auto world = Communicator::collective_world();
  const SharedFolder folder(world);
  Case what = asynchronous_cases().front();
  what.tolerance = 1e-12;
  Place place(world, tests::thread_count());
  const std::string file = folder.file("state");
  const Swept all = sweep_freely(place, what, 1'000'000, {.path = file, .every_seconds = 1e-9});
  CHECK(all.report.status == SolveStatus::converged);
  CHECK(all.checkpoints.failed == 0);
  if (all.checkpoints.written > 0) {
    const Swept rest = sweep_freely(place, what, 1'000'000, {.from = file});
    CHECK(rest.report.status == SolveStatus::converged);
  }
}

TEST_CASE("a signal to one rank ends asynchronous sweeps on all with a checkpoint") {
  const auto world = Communicator::collective_world();
  const SharedFolder folder(world);
  Case what = asynchronous_cases().front();
  what.tolerance = 1e-300;
  Place place(world, tests::thread_count());
  const std::string file = folder.file("state");
  const Swept found = sweep_freely(
      place, what, 1'000'000'000,
      {.path = file, .stop_signal = [&] { return world.rank() == world.size() - 1 ? 15 : 0; }});
  CHECK(found.report.status == SolveStatus::stopped);
  CHECK(found.signal == 15);
  CHECK(found.checkpoints.written == 1);
}

TEST_CASE("threads without messages keep their state, and continue from that of ranks") {
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  const SharedFolder folder(world);
  const Case what{"grid", [](Place& place) { return make_grid(place, 1); }, 10, 1e-6, 25};
  const spmv::DiffusionProblem problem{.grid = grid, .lift = 0.25};
  using Variant = ThreadedIteration::Variant;
  for (const Variant variant : {Variant::sync, Variant::async, Variant::racy}) {
    Place place(alone, 2);
    const auto run = [&](std::int64_t most, const Checkpoints::Options& options) {
      Checkpoints checkpoints(place.communicator, place.comm_thread, options);
      const GridThreads threads(place.team, problem);
      ThreadedIteration iteration(place.team, threads.sweepers(),
                                  {.variant = variant,
                                   .tolerance = 1e-6,
                                   .max_iterations = most,
                                   .check_period = 25,
                                   .checkpoints = &checkpoints});
      checkpoints.collective_open(threads.rows(), place.team,
                                  identity_of(what.name, threads.rows().global_count()), 1);
      const IterationReport report = iteration.run(threads.source_norm()).whole;
      checkpoints.close();
      return std::pair(report, checkpoints.report());
    };
    const std::string file = folder.file("state" + std::to_string(world.rank()));
    const auto [first, kept] = run(60, {.path = file, .every_iterations = 25});
    CHECK(first.status == SolveStatus::not_converged);
    CHECK(kept.written >= 1);
    const auto [rest, restored] = run(no_limit, {.from = file});
    CHECK(rest.status == SolveStatus::converged);
    CHECK(restored.first_iteration > 0);
    if (variant != Variant::sync) continue;
    const GridThreads threads(place.team, problem);
    const IterationReport whole =
        ThreadedIteration(place.team, threads.sweepers(), {.tolerance = 1e-6, .check_period = 25})
            .run(threads.source_norm())
            .whole;
    CHECK(whole.iterations == rest.iterations);
    CHECK(whole.relative_residual == rest.relative_residual);
    CHECK(sweep_in_step(place, what, no_limit, {.from = file}).report.status ==
          SolveStatus::converged);
  }
}

}  // namespace
}  // namespace weft::solver
