// Sweepers of every kind, swept from and to checkpoints.
#pragma once

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
#include "solver/sweep/threaded_iteration.h"
#include "solver/sweepers/grid_sweeper.h"
#include "solver/sweepers/grid_threads.h"
#include "solver/sweepers/matrix_sweeper.h"
#include "solver/sweepers/piece_sweeper.h"
#include "solver/tiles/async_two_level.h"
#include "solver/tiles/sync_two_level.h"
#include "solver/tiles/tile_sweeper.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/problem.h"
#include "tests/support/mpi_main.h"
#include "tests/support/shared_folder.h"
#include "tests/support/thread_count.h"

namespace weft::solver {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;
using tests::SharedFolder;

inline constexpr spmv::GridSize grid{9, 8, 12};

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

inline std::unique_ptr<Sweeper> make_grid(Place& place, int depth) {
  return std::make_unique<GridSweeper>(place.communicator, place.team,
                                       spmv::DiffusionProblem{.grid = grid, .lift = 0.25},
                                       spmv::GridPartition(grid, place.communicator.size()),
                                       GridSweeper::Options{.halo_depth = depth});
}

inline void make_matrix(Place& place) {
  place.matrix = std::make_unique<spmv::SparseOperator>(
      place.communicator, place.comm_thread, place.team,
      collective_generate(place.communicator, place.team, spmv::Problem::parse("poisson2d:13x12"),
                          spmv::PartitionBy::rows));
  place.b.assign(static_cast<std::size_t>(place.matrix->matrix().matrix().rows.row_count), 1.0);
}

inline std::unique_ptr<Sweeper> make_rows(Place& place, double momentum) {
  make_matrix(place);
  return std::make_unique<MatrixSweeper>(
      *place.matrix, place.b, MatrixSweeper::Options{.weight = 0.9, .momentum = momentum});
}

inline std::unique_ptr<Sweeper> make_pieces(Place& place) {
  make_matrix(place);
  return std::make_unique<PieceSweeper>(
      *place.matrix, place.b,
      PieceSweeper::Options{.kind = PieceSweeper::Kind::restricted, .piece_count = 6});
}

inline void make_tiles(Place& place, const TileSweeper::Options& options) {
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

inline std::vector<Case> synchronous_cases() {
  return {
      {"grid", [](Place& place) { return make_grid(place, 1); }, 10, 1e-6, 25},
      {"deep halos", [](Place& place) { return make_grid(place, 2); }, 10, 1e-6, 16},
      {"rows", [](Place& place) { return make_rows(place, 0); }, 12.5, 1e-4, 10},
      {"momentum", [](Place& place) { return make_rows(place, 0.3); }, 12.5, 1e-4, 7},
      {"pieces", make_pieces, 12.5, 1e-6, 1},
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

inline Solution solution_of(const ComputeTeam& team, KeptState& state) {
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

inline Swept sweep_in_step(Place& place, const Case& what, std::int64_t most,
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

inline void check_same(const Swept& found, const Swept& expected) {
  CHECK(found.report.status == expected.report.status);
  CHECK(found.report.iterations == expected.report.iterations);
  CHECK(std::bit_cast<std::uint64_t>(found.report.relative_residual) ==
        std::bit_cast<std::uint64_t>(expected.report.relative_residual));
  CHECK(std::ranges::all_of(
      found.x, [&](const auto& entry) { return expected.x.at(entry.first) == entry.second; }));
}

inline constexpr std::int64_t no_limit = 20'000;

}  // namespace weft::solver
