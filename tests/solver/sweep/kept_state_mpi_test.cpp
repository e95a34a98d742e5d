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
#include "solver/multigrid/sweepers/async_multigrid_sweeper.h"
#include "solver/multigrid/sweepers/multigrid_sweeper.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/kept_state.h"
#include "solver/sweep/sync_iteration.h"
#include "solver/sweepers/grid_sweeper.h"
#include "solver/sweepers/matrix_sweeper.h"
#include "solver/sweepers/piece_sweeper.h"
#include "solver/threads/jacobi.h"
#include "solver/tiles/async_two_level.h"
#include "solver/tiles/sync_two_level.h"
#include "solver/tiles/tile_sweeper.h"
#include "spmv/grid/stencil.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/problem.h"
#include "tests/support/mpi_main.h"
#include "tests/support/shared_folder.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;
using tests::SharedFolder;

constexpr spmv::GridSize grid{9, 8, 12};

/// Ranks and threads, and everything that a sweeper needs to live.
struct Place {
  Place(const Communicator& world, int threads)
      : communicator(world.collective_duplicate()),
        team(threads, comm_thread::WaitPolicy::yield),
        comm_thread({.thread_level = tests::session().thread_level()}) {}

  Communicator communicator;
  ComputeTeam team;
  CommThread comm_thread;
  std::unique_ptr<spmv::SparseOperator> matrix;
  std::unique_ptr<spmv::StencilOperator> stencil;
  std::unique_ptr<TileSweeper> tiles;
  std::vector<double> b;
};

struct Case {
  std::string name;
  std::function<std::unique_ptr<Sweeper>(Place&)> make;
  double b_norm = 1;
  double tolerance = 1e-6;
  int check_period = 1;
  int halo_period = 1;
};

std::unique_ptr<Sweeper> make_grid(Place& place, int depth) {
  return std::make_unique<GridSweeper>(place.communicator, place.team,
                                       spmv::DiffusionProblem{.grid = grid, .lift = 0.25},
                                       spmv::GridPartition(grid, place.communicator.size()),
                                       GridSweeper::Options{.halo_depth = depth});
}

void make_matrix(Place& place) {
  place.matrix = std::make_unique<spmv::SparseOperator>(
      place.communicator, place.comm_thread, place.team,
      collective_generate(place.communicator, place.team, spmv::Problem::parse("poisson2d:13x12"),
                          spmv::PartitionBy::rows));
  place.b.assign(static_cast<std::size_t>(place.matrix->matrix().matrix().rows.row_count), 1.0);
}

std::unique_ptr<Sweeper> make_rows(Place& place, double momentum) {
  make_matrix(place);
  return std::make_unique<MatrixSweeper>(
      *place.matrix, place.b, MatrixSweeper::Options{.weight = 0.9, .momentum = momentum});
}

std::unique_ptr<Sweeper> make_pieces(Place& place) {
  make_matrix(place);
  return std::make_unique<PieceSweeper>(
      *place.matrix, place.b,
      PieceSweeper::Options{.kind = PieceSweeper::Kind::restricted, .piece_count = 6});
}

void make_stencil(Place& place) {
  place.stencil = std::make_unique<spmv::StencilOperator>(
      place.communicator, place.comm_thread, place.team,
      spmv::GridStencil::of(spmv::Problem::parse("poisson3d:14x13x36")));
  place.b.assign(place.stencil->element_count(), 0.0);
  for (int thread = 0; thread < place.team.thread_count(); ++thread)
    for (const spmv::Segment& segment : place.stencil->segments(thread))
      for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
        place.b[segment.begin + i] = static_cast<double>(
            (place.stencil->global_row(segment.begin) + static_cast<std::int64_t>(i)) % 7);
}

std::unique_ptr<Sweeper> make_cycle(Place& place, MultigridSweeper::Cycle cycle) {
  make_stencil(place);
  return std::make_unique<MultigridSweeper>(*place.stencil, place.b,
                                            MultigridSweeper::Options{.cycle = cycle});
}

void make_tiles(Place& place, const TileSweeper::Options& options) {
  const SchwarzProblem problem{4, 32, 1, 0.3, spmv::RightHandSide::parse("x-random:3")};
  place.tiles = std::make_unique<TileSweeper>(
      place.team, problem, TilePartition(problem.tiles_per_side, place.communicator.size()),
      place.communicator.rank(), options);
}

/// Owns nothing.
class Forward final : public Sweeper {
 public:
  explicit Forward(Sweeper& to) : to_(to) {}
  const ComputeTeam& team() const override { return to_.team(); }
  std::span<const comm_thread::HaloNeighbour> neighbours() const override {
    return to_.neighbours();
  }
  void pack(const TeamThread& thread, SweepState state, std::size_t neighbour,
            std::span<double> out) const override {
    to_.pack(thread, state, neighbour, out);
  }
  void unpack(const TeamThread& thread, SweepState state, std::size_t neighbour,
              std::span<const double> in) override {
    to_.unpack(thread, state, neighbour, in);
  }
  void sweep(const TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override {
    to_.sweep(thread, part, residual_square);
  }
  void finish_sweep() override { to_.finish_sweep(); }
  void add_residual(const TeamThread& thread, SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override {
    to_.add_residual(thread, state, residual_square);
  }
  void record(const TeamThread& thread) override { to_.record(thread); }
  TileJudge* tile_judge() override { return to_.tile_judge(); }
  KeptState* kept_state() override { return to_.kept_state(); }

 private:
  Sweeper& to_;
};

std::vector<Case> synchronous_cases() {
  return {
      {"grid", [](Place& place) { return make_grid(place, 1); }, 10, 1e-6, 25},
      {"deep halos", [](Place& place) { return make_grid(place, 2); }, 10, 1e-6, 16},
      {"rows", [](Place& place) { return make_rows(place, 0); }, 12.5, 1e-4, 10},
      {"momentum", [](Place& place) { return make_rows(place, 0.3); }, 12.5, 1e-4, 7},
      {"pieces", make_pieces, 12.5, 1e-6, 1},
      {"additive cycle",
       [](Place& place) { return make_cycle(place, MultigridSweeper::Cycle::additive); }, 100, 1e-9,
       1},
      {"V-cycle",
       [](Place& place) { return make_cycle(place, MultigridSweeper::Cycle::multiplicative); }, 100,
       1e-9, 1},
      {"tiles",
       [](Place& place) {
         make_tiles(place, {.tolerance = 1e-6, .local_solver = BoxSolverKind::tensor});
         return std::make_unique<Forward>(*place.tiles);
       }},
      {"two levels",
       [](Place& place) {
         make_tiles(place, {.tolerance = 1e-6,
                            .local_solver = BoxSolverKind::tensor,
                            .relaxation = SyncTwoLevel::relaxation});
         return std::make_unique<SyncTwoLevel>(place.communicator, place.comm_thread, *place.tiles);
       }},
  };
}

using Solution = std::map<std::int64_t, std::uint64_t>;  // by global row

Solution solution_of(const ComputeTeam& team, KeptState& state) {
  const PackedRows rows = state.rows();
  std::vector<double> packed(rows.count());
  team.run([&](const TeamThread& thread) { state.save(thread, rows, 0, packed.data()); });
  Solution solution;
  for (const PackedRows::Run& run : rows.runs())
    for (std::size_t i = 0; i < run.count; ++i)
      solution[run.global_row + static_cast<std::int64_t>(i)] =
          std::bit_cast<std::uint64_t>(packed[run.packed + i]);
  return solution;
}

struct Swept {
  IterationReport report;
  Solution x;
  Checkpoints::Report checkpoints;
  int signal = 0;
};

/// `most`: iterations; `run(sweeper, checkpoints)` iterates.
template <class Run>
Swept sweep(Place& place, const Case& what, const Checkpoints::Options& options, const Run& run) {
  const auto sweeper = what.make(place);
  KeptState& state = *sweeper->kept_state();
  std::unique_ptr<Checkpoints> checkpoints;
  if (!options.path.empty() || !options.from.empty()) {
    checkpoints = std::make_unique<Checkpoints>(place.communicator, place.comm_thread, options);
    const PackedRows rows = state.rows();
    checkpoints->collective_open(rows, place.team, identity_of(what.name, rows.global_count()),
                                 state.vector_count());
  }
  Swept swept{.report = run(*sweeper, checkpoints.get()), .x = {}, .checkpoints = {}};
  swept.x = solution_of(place.team, state);
  if (!checkpoints) return swept;
  checkpoints->close();
  swept.checkpoints = checkpoints->report();
  swept.signal = checkpoints->stop_signal();
  return swept;
}

Swept sweep_in_step(Place& place, const Case& what, std::int64_t most,
                    const Checkpoints::Options& options) {
  return sweep(place, what, options, [&](Sweeper& sweeper, Checkpoints* checkpoints) {
    return SyncIteration(place.communicator, place.comm_thread, sweeper,
                         {.tolerance = what.tolerance,
                          .max_iterations = most,
                          .check_period = what.check_period,
                          .halo_period = what.halo_period,
                          .checkpoints = checkpoints})
        .run(what.b_norm);
  });
}

void check_same(const Swept& found, const Swept& expected) {
  CHECK(found.report.status == expected.report.status);
  CHECK(found.report.iterations == expected.report.iterations);
  CHECK(std::bit_cast<std::uint64_t>(found.report.relative_residual) ==
        std::bit_cast<std::uint64_t>(expected.report.relative_residual));
  CHECK(std::ranges::all_of(
      found.x, [&](const auto& entry) { return expected.x.at(entry.first) == entry.second; }));
}

constexpr std::int64_t no_limit = 20'000;

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
      {"multigrid",
       [](Place& place) {
         make_stencil(place);
         return std::make_unique<AsyncMultigridSweeper>(*place.stencil, place.b,
                                                        AsyncMultigridSweeper::Options{});
       },
       100, 1e-8},
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
  using Variant = ThreadedJacobi::Variant;
  for (const Variant variant : {Variant::sync, Variant::async, Variant::racy}) {
    Place place(alone, 2);
    const auto run = [&](std::int64_t most, const Checkpoints::Options& options) {
      Checkpoints checkpoints(place.communicator, place.comm_thread, options);
      ThreadedJacobi jacobi(place.team, problem,
                            {.variant = variant,
                             .tolerance = 1e-6,
                             .max_iterations = most,
                             .check_period = 25,
                             .checkpoints = &checkpoints});
      checkpoints.collective_open(jacobi.rows(), place.team,
                                  identity_of(what.name, jacobi.rows().global_count()), 1);
      const IterationReport report = jacobi.run().whole;
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
    ThreadedJacobi whole(place.team, problem, {.tolerance = 1e-6, .check_period = 25});
    CHECK(whole.run().whole.iterations == rest.iterations);
    CHECK(whole.run().whole.relative_residual == rest.relative_residual);
    CHECK(sweep_in_step(place, what, no_limit, {.from = file}).report.status ==
          SolveStatus::converged);
  }
}

}  // namespace
}  // namespace weft::solver
