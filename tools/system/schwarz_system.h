#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "solver/checkpoint/checkpoint_file.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/report/iteration_report.h"
#include "solver/sweep/sweeper.h"
#include "solver/tiles/box_solver_kind.h"
#include "solver/tiles/box_solver_trial.h"
#include "solver/tiles/schwarz_problem.h"
#include "solver/tiles/tile_partition.h"
#include "solver/tiles/tile_sweeper.h"
#include "tools/job/program_job.h"
#include "tools/job/progress_line.h"
#include "tools/system/memory_forecast.h"
#include "tools/system/schwarz_options.h"

namespace weft::tools {

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
  SchwarzSystem(Job& job, const SchwarzOptions& options);

  std::string name() const;
  const MemoryForecast& forecast() const { return forecast_; }
  std::int64_t rows() const;
  std::int64_t nonzeros() const;
  /// "boxes of ranks 2x1", or "in order".
  std::string decomposition() const;

  /// The alpha that the options ask for, chosen if need be. `trials`: of a search.
  double choose_alpha(const SchwarzOptions& options, ProgressLine& progress,
                      std::vector<AlphaTrial>& trials);

  /// As JacobiSystem::use.
  void use(solver::Checkpoints* checkpoints) { checkpoints_ = checkpoints; }

  SchwarzRun run(const SchwarzOptions& options, ProgressLine& progress);

 private:
  solver::SolveIdentity identity(const SchwarzOptions& options, const SchwarzRun& run) const;
  SchwarzRun run_with(const SchwarzOptions& options, double alpha, ProgressLine& progress,
                      solver::Checkpoints* checkpoints);
  void choose_local_solver(const SchwarzOptions& options, SchwarzRun& run);
  void run_on(solver::TileSweeper& tiles, const SchwarzOptions& options, ProgressLine& progress,
              solver::Checkpoints* checkpoints, SchwarzRun& run);
  solver::IterationReport iterate(solver::Sweeper& sweeper, const SchwarzOptions& options,
                                  ProgressLine& progress, solver::Checkpoints* checkpoints);

  Job& job_;
  solver::Checkpoints* checkpoints_ = nullptr;
  solver::SchwarzProblem problem_;
  MemoryForecast forecast_;
  solver::TilePartition partition_;
};

}  // namespace weft::tools
