#include "tools/system/schwarz_system.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "library/solve/sweep_run.h"
#include "solver/checkpoint/system_checksum.h"
#include "solver/tiles/async_two_level.h"
#include "solver/tiles/robin_parameter.h"
#include "solver/tiles/sync_two_level.h"
#include "solver/tiles/tile_box.h"
#include "solver/tiles/tile_sweeper.h"
#include "tools/system/sweep_forecast.h"

namespace weft::tools {
namespace {

constexpr double search_factor = 3;  // how far from its beginning the search goes, either way
constexpr int search_steps = 8;
constexpr int tiles_between_nodes = 2;

/// Problem for which alpha is optimized. With a coarse space, tiles only have to reduce errors
/// too short for it, as if the grid were two of them wide. Of 24×24 tiles of 64×64 points,
/// alpha 0.03, 0.045 and 0.08 take 33, 27 and 22 iterations; of 32×32 points, 40, 33 and 25.
solver::SchwarzProblem slowest_problem(solver::SchwarzProblem problem,
                                       const SchwarzOptions& options) {
  if (options.has_coarse())
    problem.tiles_per_side = std::min(problem.tiles_per_side, tiles_between_nodes);
  return problem;
}

/// Number of iterations until the global residual reached `tolerance`, interpolated so that a
/// search sees small differences; if it did not, extrapolated with the rate of the last half.
double iterations_to(double tolerance, const solver::IterationReport& report) {
  const auto& history = report.history;
  const auto logarithm = [&](std::size_t i) { return std::log(history[i].residual); };
  const double goal = std::log(tolerance);
  for (std::size_t i = 1; i < history.size(); ++i)
    if (logarithm(i) <= goal)
      return static_cast<double>(i) -
             (goal - logarithm(i)) / std::max(logarithm(i - 1) - logarithm(i), 1e-9);
  const std::size_t last = history.size() - 1;
  const std::size_t half = last / 2;
  const double rate = (logarithm(half) - logarithm(last)) / static_cast<double>(last - half);
  const double missing = logarithm(last) - goal;
  return rate > 0 ? static_cast<double>(last) + missing / rate
                  : std::numeric_limits<double>::infinity();
}

/// Golden sections on a logarithmic scale around `begin`.
template <class Function>
double search_least(double begin, const Function& value_at) {
  const double section = std::numbers::phi - 1;
  double low = std::log(begin / search_factor);
  double high = std::log(begin * search_factor);
  double left = high - section * (high - low);
  double right = low + section * (high - low);
  double left_value = value_at(std::exp(left));
  double right_value = value_at(std::exp(right));
  for (int step = 2; step < search_steps; ++step) {
    if (left_value < right_value) {
      high = std::exchange(right, left);
      right_value = left_value;
      left = high - section * (high - low);
      left_value = value_at(std::exp(left));
    } else {
      low = std::exchange(left, right);
      left_value = right_value;
      right = low + section * (high - low);
      right_value = value_at(std::exp(right));
    }
  }
  return std::exp(left_value < right_value ? left : right);
}

}  // namespace

SchwarzSystem::SchwarzSystem(Job& job, const SchwarzOptions& options)
    : job_(job),
      problem_(options.problem()),
      forecast_(forecast_schwarz(job, options)),
      partition_(options.tiles_per_side, job.world().size()) {
  options.settings().check_faults(job.world().size(), "rank");
  collective_check_memory(job, name(), forecast_);
}

std::string SchwarzSystem::name() const {
  return fmt::format("poisson2d:{}", problem_.grid_side());
}

std::int64_t SchwarzSystem::rows() const { return problem_.grid_side() * problem_.grid_side(); }

std::int64_t SchwarzSystem::nonzeros() const { return 5 * rows() - 4 * problem_.grid_side(); }

std::string SchwarzSystem::decomposition() const {
  return partition_.is_in_boxes() ? fmt::format("{}x{}", partition_.columns(), partition_.rows())
                                  : "in order";
}

/// By the matrix of most tiles: one in the middle, as far as there is one.
void SchwarzSystem::choose_local_solver(const SchwarzOptions& options, SchwarzRun& run) {
  if (options.local_solver == "auto") {
    const int middle = run.problem.tiles_per_side / 2;
    const auto box =
        solver::TileBox::of_tile(run.problem.tiles_per_side, run.problem.points_per_side,
                                 run.problem.overlap, middle, middle);
    run.trial = solver::collective_try_box_solvers(job_.world(), box.matrix(run.problem.beta()),
                                                   box.frame(run.problem.overlap),
                                                   box.edges(run.problem.overlap));
    run.local_solver = run.trial->quickest();
  } else if (options.local_solver == "tensor") {
    run.local_solver = solver::BoxSolverKind::tensor;
  }
}

SchwarzRun SchwarzSystem::run(const SchwarzOptions& options, ProgressLine& progress) {
  std::vector<AlphaTrial> trials;
  const double alpha = choose_alpha(options, progress, trials);
  SchwarzRun run = run_with(options, alpha, progress, checkpoints_);
  run.alpha_trials = std::move(trials);
  return run;
}

double SchwarzSystem::choose_alpha(const SchwarzOptions& options, ProgressLine& progress,
                                   std::vector<AlphaTrial>& trials) {
  if (options.has_alpha()) return options.problem().alpha;
  const double by_theory = solver::optimized_alpha(slowest_problem(problem_, options));
  if (options.alpha == "auto" || std::isinf(by_theory)) return by_theory;
  SchwarzOptions synchronous = options;
  synchronous.variant = library::IterationVariant::synchronous;
  synchronous.fixed_seconds = 0;
  synchronous.faults.clear();
  double fewest = std::numeric_limits<double>::infinity();
  const auto try_alpha = [&](double alpha) {
    // Runs that have not converged after half as many iterations again are extrapolated.
    if (std::isfinite(fewest))
      synchronous.max_iterations =
          std::min(options.max_iterations, static_cast<std::int64_t>(1.5 * fewest) + 1);
    const SchwarzRun run = run_with(synchronous, alpha, progress, nullptr);
    trials.push_back({alpha, iterations_to(options.tolerance, run.report)});
    fewest = std::min(fewest, trials.back().iterations);
    return trials.back().iterations;
  };
  return search_least(by_theory, try_alpha);
}

solver::SolveIdentity SchwarzSystem::identity(const SchwarzOptions& options,
                                              const SchwarzRun& run) const {
  solver::SolveIdentity identity = solver::identity_of(
      fmt::format("schwarz, local solver {}", solver::name(run.local_solver)), rows());
  identity.matrix = solver::text_checksum(name());
  identity.right_hand_side = solver::text_checksum(options.right_hand_side);
  identity.preconditioner = solver::text_checksum(fmt::format(
      "{} {} {:a} {}", options.tiles_per_side, options.overlap, run.problem.alpha, options.coarse));
  return identity;
}

SchwarzRun SchwarzSystem::run_with(const SchwarzOptions& options, double alpha,
                                   ProgressLine& progress, solver::Checkpoints* checkpoints) {
  SchwarzRun run;
  run.problem = options.problem();
  run.problem.alpha = alpha;
  choose_local_solver(options, run);
  if (checkpoints && options.local_solver == "auto")
    for (const auto kind : {solver::BoxSolverKind::cholmod, solver::BoxSolverKind::tensor}) {
      SchwarzRun other = run;
      other.local_solver = kind;
      const auto found = identity(options, other).recurrence;
      if (checkpoints->state_name() == found.data()) run.local_solver = kind;
    }
  solver::TileSweeper::Options how{.tolerance = options.tolerance,
                                   .local_solver = run.local_solver};
  if (options.has_coarse())
    how.relaxation =
        options.is_sync() ? solver::SyncTwoLevel::relaxation : solver::AsyncTwoLevel::relaxation;
  if (!options.is_sync())
    how.order = options.has_coarse() ? solver::TileSweeper::Order::quarters
                                     : solver::TileSweeper::Order::most_changed;
  std::unique_ptr<solver::TileSweeper> made;
  comm_thread::collective_attempt(job_.world(), [&] {
    made = std::make_unique<solver::TileSweeper>(job_.team(), run.problem, partition_,
                                                 job_.world().rank(), how);
  });
  solver::TileSweeper& tiles = *made;
  run.tile_count = std::ssize(tiles.tiles());
  const double before = tiles.solve_seconds(0);
  if (checkpoints)
    checkpoints->collective_open(tiles.rows(), job_.team(), identity(options, run), 1);
  run_on(tiles, options, progress, checkpoints, run);
  run.solve_seconds = tiles.solve_seconds(0) - before;
  run.solve_count = tiles.solve_count();
  run.worst_tile_residual = tiles.worst_tile_residual();
  return run;
}

void SchwarzSystem::run_on(solver::TileSweeper& tiles, const SchwarzOptions& options,
                           ProgressLine& progress, solver::Checkpoints* checkpoints,
                           SchwarzRun& run) {
  const auto run_both = [&](auto&& both) {
    run.report = iterate(both, options, progress, checkpoints);
    run.coarse_unknowns = static_cast<std::int64_t>(both.unknown_count());
    run.corrections = both.correction_count();
  };
  if (!options.has_coarse())
    run.report = iterate(tiles, options, progress, checkpoints);
  else if (options.is_sync())
    run_both(solver::SyncTwoLevel(job_.comm_thread_world(), job_.comm_thread(), tiles));
  else
    run_both(solver::AsyncTwoLevel(job_.comm_thread_world(), job_.comm_thread(), tiles));
}

solver::IterationReport SchwarzSystem::iterate(solver::Sweeper& sweeper,
                                               const SchwarzOptions& options,
                                               ProgressLine& progress,
                                               solver::Checkpoints* checkpoints) {
  const double b_norm =
      library::collective_start_residual(job_.comm_thread_world(), job_.comm_thread(), sweeper);
  return library::collective_sweep(
      job_.comm_thread_world(), job_.comm_thread(), sweeper, options.settings(), b_norm,
      {.checkpoints = checkpoints, .on_check = [&](std::int64_t iteration, double residual) {
         progress.update(iteration, residual);
       }});
}

}  // namespace weft::tools
