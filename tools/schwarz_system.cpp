#include "tools/schwarz_system.h"

#include <memory>

#include <fmt/format.h>

#include "comm_thread/detector_kind.h"
#include "comm_thread/error_agreement.h"
#include "comm_thread/transport_choice.h"
#include "solver/async_iteration.h"
#include "solver/disturbance.h"
#include "solver/schwarz_subdomain.h"
#include "solver/sync_iteration.h"
#include "solver/tile_box.h"
#include "spmv/mode.h"
#include "tools/async_option_checks.h"
#include "tools/start_residual.h"

namespace weft::tools {

SchwarzSystem::SchwarzSystem(Job& job, const SchwarzOptions& options)
    : job_(job),
      problem_(options.problem()),
      partition_(options.tiles_per_side, job.world().size()) {
  check_faults(parse_faults(options.faults), job.world().size(), "rank");
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

/// By the matrix of most subdomains: one in the middle, as far as there is one.
void SchwarzSystem::choose_local_solver(const SchwarzOptions& options, SchwarzRun& run) {
  if (options.local_solver == "auto") {
    const int middle = run.problem.tiles_per_side / 2;
    const auto box =
        solver::TileBox::of_tile(run.problem.tiles_per_side, run.problem.points_per_side,
                                 run.problem.overlap, middle, middle);
    run.trial = solver::collective_try_box_solvers(job_.world(), box.matrix(run.problem.beta()));
    run.local_solver = run.trial->quickest();
  } else if (options.local_solver == "tensor") {
    run.local_solver = solver::BoxSolverKind::tensor;
  }
}

SchwarzRun SchwarzSystem::run(const SchwarzOptions& options, ProgressLine& progress) {
  SchwarzRun run;
  run.problem = options.problem();
  choose_local_solver(options, run);
  std::unique_ptr<solver::SchwarzSubdomain> made;
  comm_thread::collective_attempt(job_.world(), [&] {
    made = std::make_unique<solver::SchwarzSubdomain>(
        job_.team(), run.problem, partition_, job_.world().rank(),
        solver::SchwarzSubdomain::Options{.tolerance = options.tolerance,
                                          .local_solver = run.local_solver});
  });
  solver::SchwarzSubdomain& subdomain = *made;
  run.tile_count = std::ssize(subdomain.tiles());
  const double before = subdomain.solve_seconds(0);
  run.report = iterate(subdomain, options, progress);
  run.solve_seconds = subdomain.solve_seconds(0) - before;
  return run;
}

solver::IterationReport SchwarzSystem::iterate(solver::Subdomain& subdomain,
                                               const SchwarzOptions& options,
                                               ProgressLine& progress) {
  const double b_norm = collective_start_residual(job_, subdomain);
  const solver::Disturbance disturbance(parse_faults(options.faults), job_.world().rank());
  const auto show = [&](std::int64_t iteration, double residual) {
    progress.update(iteration, residual);
  };
  if (options.is_sync()) {
    solver::SyncIteration iteration(job_.comm_thread_world(), job_.comm_thread(), subdomain,
                                    {.mode = *spmv::parse_mode(options.mode),
                                     .max_iterations = options.max_iterations,
                                     .check_period = 1,
                                     .fixed_seconds = options.fixed_seconds,
                                     .disturbance = disturbance,
                                     .on_check = show});
    return iteration.run(b_norm);
  }
  solver::AsyncIteration iteration(job_.comm_thread_world(), job_.comm_thread(), subdomain,
                                   {.transport = comm_thread::transport_choice(options.transport),
                                    .max_in_flight = options.max_in_flight,
                                    .contribution_period = 1,
                                    .detector = comm_thread::detector_kind(options.detector),
                                    .max_iterations = options.max_iterations,
                                    .fixed_seconds = options.fixed_seconds,
                                    .disturbance = disturbance,
                                    .on_contribution = show});
  return iteration.run(b_norm);
}

}  // namespace weft::tools
