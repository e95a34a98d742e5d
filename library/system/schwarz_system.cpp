#include "library/system/schwarz_system.h"

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
#include "solver/tiles/tile_layout.h"
#include "solver/tiles/tile_sweeper.h"

namespace weft::library {
namespace {

constexpr double search_factor = 3;  // how far from its beginning the search goes, either way
constexpr int search_steps = 8;
constexpr int tiles_between_nodes = 2;

/// Problem for which alpha is optimized. With a coarse space, tiles only have to reduce errors
/// too short for it, as if the grid were two of them wide. Of 24×24 tiles of 64×64 points,
/// alpha 0.03, 0.045 and 0.08 take 33, 27 and 22 iterations; of 32×32 points, 40, 33 and 25.
solver::SchwarzProblem slowest_problem(solver::SchwarzProblem problem,
                                       const SchwarzSettings& settings) {
  if (settings.has_coarse())
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

/// Kinds of tiles of a rank along one direction: at either side, and between.
int kinds_along(int side, int boxes) {
  return boxes == 1 ? std::min(side, 3) : std::min((side + boxes - 1) / boxes, 2);
}

}  // namespace

MemoryForecast forecast_schwarz(const comm_thread::Communicator& communicator,
                                const SchwarzSettings& settings) {
  constexpr double value_bytes = 8;
  constexpr double bytes_of_tile = 470;  // its place in the lists, measured
  const int side = settings.tiles_per_side;
  const int points = settings.points_per_side;
  const double box_points = std::pow(points + 2.0 * settings.overlap, 2);
  const solver::TileLayout layout(points, settings.overlap + 1);
  const double all_tiles = static_cast<double>(side) * side;
  const double tiles = std::ceil(all_tiles / communicator.size());
  MemoryForecast forecast = forecast_operator(communicator, {}, {}, true);
  forecast.parts.push_back(
      {"tiles",
       tiles * (value_bytes * (box_points + 2 * static_cast<double>(layout.element_count())) +
                bytes_of_tile)});
  // Measured: eigenvectors in both directions, and entries of a factor a point.
  const solver::TilePartition partition(side, communicator.size());
  const int all_kinds = partition.is_in_boxes() ? kinds_along(side, partition.columns()) *
                                                      kinds_along(side, partition.rows())
                                                : kinds_along(side, 1) * kinds_along(side, 1);
  const double kinds = std::min(tiles, static_cast<double>(all_kinds));
  const double of_factor = 6.7 * std::max(1.0, std::log2(box_points) - 8);
  const double of_eigenvectors = 4.9;
  const double values = settings.local_solver == "cholmod"  ? of_factor
                        : settings.local_solver == "tensor" ? of_eigenvectors
                                                            : std::max(of_factor, of_eigenvectors);
  forecast.parts.push_back({"solvers", kinds * value_bytes * values * box_points});
  return forecast;
}

SchwarzSystem::SchwarzSystem(comm_thread::Job& job, const SchwarzSettings& settings)
    : job_(job),
      problem_(settings.problem()),
      forecast_(forecast_schwarz(job.world(), settings)),
      partition_(settings.tiles_per_side, job.world().size()) {
  settings.check_faults(job.world().size(), "rank");
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
void SchwarzSystem::choose_local_solver(const SchwarzSettings& settings, SchwarzRun& run) {
  if (settings.local_solver == "auto") {
    const int middle = run.problem.tiles_per_side / 2;
    const auto box =
        solver::TileBox::of_tile(run.problem.tiles_per_side, run.problem.points_per_side,
                                 run.problem.overlap, middle, middle);
    run.trial = solver::collective_try_box_solvers(job_.world(), box.matrix(run.problem.beta()),
                                                   box.frame(run.problem.overlap),
                                                   box.edges(run.problem.overlap));
    run.local_solver = run.trial->quickest();
  } else if (settings.local_solver == "tensor") {
    run.local_solver = solver::BoxSolverKind::tensor;
  }
}

SchwarzRun SchwarzSystem::run(const SchwarzSettings& settings, const OnCheck& on_check) {
  std::vector<AlphaTrial> trials;
  const double alpha = choose_alpha(settings, on_check, trials);
  SchwarzRun run = run_with(settings, alpha, on_check, checkpoints_);
  run.alpha_trials = std::move(trials);
  return run;
}

double SchwarzSystem::choose_alpha(const SchwarzSettings& settings, const OnCheck& on_check,
                                   std::vector<AlphaTrial>& trials) {
  if (settings.has_alpha()) return settings.problem().alpha;
  const double by_theory = solver::optimized_alpha(slowest_problem(problem_, settings));
  if (settings.alpha == "auto" || std::isinf(by_theory)) return by_theory;
  SchwarzSettings synchronous = settings;
  synchronous.variant = IterationVariant::synchronous;
  synchronous.fixed_seconds = 0;
  synchronous.faults.clear();
  double fewest = std::numeric_limits<double>::infinity();
  const auto try_alpha = [&](double alpha) {
    // Runs that have not converged after half as many iterations again are extrapolated.
    if (std::isfinite(fewest))
      synchronous.max_iterations =
          std::min(settings.max_iterations, static_cast<std::int64_t>(1.5 * fewest) + 1);
    const SchwarzRun run = run_with(synchronous, alpha, on_check, nullptr);
    trials.push_back({alpha, iterations_to(settings.tolerance, run.report)});
    fewest = std::min(fewest, trials.back().iterations);
    return trials.back().iterations;
  };
  return search_least(by_theory, try_alpha);
}

solver::SolveIdentity SchwarzSystem::identity(const SchwarzSettings& settings,
                                              const SchwarzRun& run) const {
  solver::SolveIdentity identity = solver::identity_of(
      fmt::format("schwarz, local solver {}", solver::name(run.local_solver)), rows());
  identity.matrix = solver::text_checksum(name());
  identity.right_hand_side = solver::text_checksum(settings.right_hand_side);
  identity.preconditioner =
      solver::text_checksum(fmt::format("{} {} {:a} {}", settings.tiles_per_side, settings.overlap,
                                        run.problem.alpha, settings.coarse));
  return identity;
}

SchwarzRun SchwarzSystem::run_with(const SchwarzSettings& settings, double alpha,
                                   const OnCheck& on_check, solver::Checkpoints* checkpoints) {
  SchwarzRun run;
  run.problem = settings.problem();
  run.problem.alpha = alpha;
  choose_local_solver(settings, run);
  if (checkpoints && settings.local_solver == "auto")
    for (const auto kind : {solver::BoxSolverKind::cholmod, solver::BoxSolverKind::tensor}) {
      SchwarzRun other = run;
      other.local_solver = kind;
      const auto found = identity(settings, other).recurrence;
      if (checkpoints->state_name() == found.data()) run.local_solver = kind;
    }
  solver::TileSweeper::Options how{.tolerance = settings.tolerance,
                                   .local_solver = run.local_solver};
  if (settings.has_coarse())
    how.relaxation =
        settings.is_sync() ? solver::SyncTwoLevel::relaxation : solver::AsyncTwoLevel::relaxation;
  if (!settings.is_sync())
    how.order = settings.has_coarse() ? solver::TileSweeper::Order::quarters
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
    checkpoints->collective_open(tiles.rows(), job_.team(), identity(settings, run), 1);
  run_on(tiles, settings, on_check, checkpoints, run);
  run.solve_seconds = tiles.solve_seconds(0) - before;
  run.solve_count = tiles.solve_count();
  run.worst_tile_residual = tiles.worst_tile_residual();
  return run;
}

void SchwarzSystem::run_on(solver::TileSweeper& tiles, const SchwarzSettings& settings,
                           const OnCheck& on_check, solver::Checkpoints* checkpoints,
                           SchwarzRun& run) {
  const auto run_both = [&](auto&& both) {
    run.report = iterate(both, settings, on_check, checkpoints);
    run.coarse_unknowns = static_cast<std::int64_t>(both.unknown_count());
    run.corrections = both.correction_count();
  };
  if (!settings.has_coarse())
    run.report = iterate(tiles, settings, on_check, checkpoints);
  else if (settings.is_sync())
    run_both(solver::SyncTwoLevel(job_.comm_thread_world(), job_.comm_thread(), tiles));
  else
    run_both(solver::AsyncTwoLevel(job_.comm_thread_world(), job_.comm_thread(), tiles));
}

solver::IterationReport SchwarzSystem::iterate(solver::Sweeper& sweeper,
                                               const SchwarzSettings& settings,
                                               const OnCheck& on_check,
                                               solver::Checkpoints* checkpoints) {
  const double b_norm =
      collective_start_residual(job_.comm_thread_world(), job_.comm_thread(), sweeper);
  return collective_sweep(job_.comm_thread_world(), job_.comm_thread(), sweeper, settings, b_norm,
                          {.checkpoints = checkpoints, .on_check = on_check});
}

}  // namespace weft::library
