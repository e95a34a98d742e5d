#include "tools/schwarz_system.h"

#include <memory>

#include <fmt/format.h>

#include "comm_thread/error_agreement.h"
#include "solver/box_solver_kind.h"
#include "solver/schwarz_subdomain.h"
#include "solver/sync_iteration.h"
#include "spmv/mode.h"
#include "tools/start_residual.h"

namespace weft::tools {

SchwarzSystem::SchwarzSystem(Job& job, const SchwarzOptions& options)
    : job_(job),
      problem_(options.problem()),
      partition_(options.tiles_per_side, job.world().size()) {}

std::string SchwarzSystem::name() const {
  return fmt::format("poisson2d:{}", problem_.grid_side());
}

std::int64_t SchwarzSystem::rows() const { return problem_.grid_side() * problem_.grid_side(); }

std::int64_t SchwarzSystem::nonzeros() const { return 5 * rows() - 4 * problem_.grid_side(); }

std::string SchwarzSystem::decomposition() const {
  return partition_.is_in_boxes() ? fmt::format("{}x{}", partition_.columns(), partition_.rows())
                                  : "in order";
}

SchwarzRun SchwarzSystem::run(const SchwarzOptions& options, ProgressLine& progress) {
  SchwarzRun run;
  run.problem = options.problem();
  const auto kind = solver::BoxSolverKind::cholmod;
  run.local_solver = solver::name(kind);
  std::unique_ptr<solver::SchwarzSubdomain> made;
  comm_thread::collective_attempt(job_.world(), [&] {
    made = std::make_unique<solver::SchwarzSubdomain>(
        job_.team(), run.problem, partition_, job_.world().rank(),
        solver::SchwarzSubdomain::Options{.tolerance = options.tolerance, .local_solver = kind});
  });
  solver::SchwarzSubdomain& subdomain = *made;
  run.tile_count = std::ssize(subdomain.tiles());
  const double b_norm = collective_start_residual(job_, subdomain);
  const auto show = [&](std::int64_t iteration, double residual) {
    progress.update(iteration, residual);
  };
  solver::SyncIteration iteration(job_.comm_thread_world(), job_.comm_thread(), subdomain,
                                  {.mode = *spmv::parse_mode(options.mode),
                                   .tolerance = options.tolerance,
                                   .max_iterations = options.max_iterations,
                                   .check_period = 1,
                                   .on_check = show});
  const double before = subdomain.solve_seconds(0);
  run.report = iteration.run(b_norm);
  run.solve_seconds = subdomain.solve_seconds(0) - before;
  return run;
}

}  // namespace weft::tools
