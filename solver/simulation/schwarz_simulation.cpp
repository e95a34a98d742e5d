#include "solver/simulation/schwarz_simulation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/tiles/robin_parameter.h"
#include "solver/tiles/schwarz_problem.h"
#include "solver/tiles/tile_partition.h"
#include "solver/tiles/tile_sweeper.h"

namespace weft::solver {
namespace {

constexpr int overlap = 1;

/// Relative to the solve of a tile of 64² points, by the factors of a sparse Cholesky
/// factorization in nested dissection: m²·log m numbers.
double relative_cost(int points) {
  constexpr double reference = 64;
  const double m = std::max(2, points);
  return m * m * std::log(m) / (reference * reference * std::log(reference));
}

SchwarzProblem problem_of(const SchwarzSimulationOptions& options) {
  expect_between("tiles a side", options.tiles_per_side, 1, 1024);
  expect_between("points of a tile", options.points, 2, 10'000);
  expect_between("real points of a tile", options.real_points, 2, 256);
  if (!(options.alpha >= 0))
    throw comm_thread::InputError("alpha: expected a number of 0 or more; 0 is the best by theory");
  SchwarzProblem problem{.tiles_per_side = options.tiles_per_side,
                         .points_per_side = options.real_points,
                         .overlap = overlap,
                         .right_hand_side = {}};
  problem.alpha = options.alpha > 0 ? options.alpha : optimized_alpha(problem);
  return problem;
}

double norm_of_source(const SchwarzProblem& problem) {
  double square = 0;
  for (spmv::GlobalIndex y = 0; y < problem.grid_side(); ++y)
    for (spmv::GlobalIndex x = 0; x < problem.grid_side(); ++x)
      square += problem.source(x, y) * problem.source(x, y);
  return std::sqrt(square);
}

}  // namespace

double alpha_of(const SchwarzSimulationOptions& options) { return problem_of(options).alpha; }

SweepSimulationResult simulate_schwarz(const SchwarzSimulationOptions& options) {
  const SchwarzProblem problem = problem_of(options);
  auto run = static_cast<const SweepRunOptions&>(options);
  run.rank_count = problem.tiles_per_side * problem.tiles_per_side;
  run.thread_count = 1;
  run.machine.seconds_per_sweep +=
      options.machine.seconds_per_solve * relative_cost(options.points);
  const TilePartition partition(problem.tiles_per_side, run.rank_count);
  const comm_thread::ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  const SweepCase tiles{
      .make_values =
          [&](int rank, std::size_t) {
            return SimulatedValues{.sweeper = std::make_unique<TileSweeper>(
                                       team, problem, partition, rank,
                                       TileSweeper::Options{.tolerance = options.tolerance,
                                                            .local_solver = BoxSolverKind::tensor}),
                                   .sample = [](const Sweeper& sweeper) {
                                     return static_cast<const TileSweeper&>(sweeper).value(0, 0, 0);
                                   }};
          },
      .source_norm = norm_of_source(problem),
      .charged_values = static_cast<double>(options.points) / options.real_points,
      .largest_message = static_cast<std::size_t>((overlap + 1) * options.real_points)};
  return simulate_sweeps(run, tiles);
}

}  // namespace weft::solver
