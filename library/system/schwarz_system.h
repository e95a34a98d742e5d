#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm_thread/job/job.h"
#include "comm_thread/mpi/communicator.h"
#include "library/options/schwarz_settings.h"
#include "library/solve/sweep_run.h"
#include "library/system/memory_forecast.h"
#include "solver/checkpoint/checkpoint_file.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/report/iteration_report.h"
#include "solver/sweep/sweeper.h"
#include "solver/tiles/box_solver_kind.h"
#include "solver/tiles/box_solver_trial.h"
#include "solver/tiles/schwarz_problem.h"
#include "solver/tiles/tile_partition.h"
#include "solver/tiles/tile_sweeper.h"

namespace weft::library {

/// Memory that tiles will need: of all of them, and of a solver for each kind.
MemoryForecast forecast_schwarz(const comm_thread::Communicator& communicator,
                                const SchwarzSettings& settings);

/// One trial of the search for alpha.
struct AlphaTrial {
  double alpha = 0;
  double iterations = 0;  // to the tolerance on the whole, interpolated
};

/// Results of a run on this rank.
struct SchwarzRun {
  solver::IterationReport report;
  solver::SchwarzProblem problem;  // with alpha as used
  solver::BoxSolverKind local_solver = solver::BoxSolverKind::cholmod;  // as used
  std::optional<solver::BoxSolverTrial> trial;  // where it was chosen
  std::vector<AlphaTrial> alpha_trials;  // of a search
  double solve_seconds = 0;  // of the primary thread, in the solvers of tiles
  double worst_tile_residual = 0;  // the largest ‖b − A·x‖/‖b‖ of a tile
  std::int64_t tile_count = 0;
  std::int64_t solve_count = 0;  // of all tiles
  std::int64_t coarse_unknowns = 0;  // 0: one level
  std::int64_t corrections = 0;  // that this rank has added
};

/// The 2-D Poisson problem in tiles on the ranks of a job, solved repeatedly, always from the
/// start.
///
/// All members are collective. Throws comm_thread::InputError on every rank.
class SchwarzSystem {
 public:
  using OnCheck = decltype(SweepHooks::on_check);

  /// Lifetime: `job` outlives it.
  SchwarzSystem(comm_thread::Job& job, const SchwarzSettings& settings);

  std::string name() const;
  const MemoryForecast& forecast() const { return forecast_; }
  std::int64_t rows() const;
  std::int64_t nonzeros() const;
  /// "boxes of ranks 2x1", or "in order".
  std::string decomposition() const;

  /// The alpha that the options ask for, chosen if need be. `trials`: of a search.
  double choose_alpha(const SchwarzSettings& settings, const OnCheck& on_check,
                      std::vector<AlphaTrial>& trials);

  /// As JacobiSystem::use.
  void use(solver::Checkpoints* checkpoints) { checkpoints_ = checkpoints; }

  SchwarzRun run(const SchwarzSettings& settings, const OnCheck& on_check);

 private:
  solver::SolveIdentity identity(const SchwarzSettings& settings, const SchwarzRun& run) const;
  SchwarzRun run_with(const SchwarzSettings& settings, double alpha, const OnCheck& on_check,
                      solver::Checkpoints* checkpoints);
  void choose_local_solver(const SchwarzSettings& settings, SchwarzRun& run);
  void run_on(solver::TileSweeper& tiles, const SchwarzSettings& settings, const OnCheck& on_check,
              solver::Checkpoints* checkpoints, SchwarzRun& run);
  solver::IterationReport iterate(solver::Sweeper& sweeper, const SchwarzSettings& settings,
                                  const OnCheck& on_check, solver::Checkpoints* checkpoints);

  comm_thread::Job& job_;
  solver::Checkpoints* checkpoints_ = nullptr;
  solver::SchwarzProblem problem_;
  MemoryForecast forecast_;
  solver::TilePartition partition_;
};

}  // namespace weft::library
