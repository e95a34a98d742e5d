#include "tools/system/jacobi_system.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "library/settings/right_hand_side_choice.h"
#include "library/solve/sweep_run.h"
#include "library/solve/value_range.h"
#include "solver/checkpoint/packed_rows.h"
#include "solver/checkpoint/system_checksum.h"
#include "solver/choice/matrix_traits.h"
#include "solver/sweep/threaded_iteration.h"
#include "solver/sweepers/block_sweeper.h"
#include "solver/sweepers/grid_sweeper.h"
#include "solver/sweepers/grid_threads.h"
#include "solver/sweepers/matrix_sweeper.h"
#include "solver/sweepers/piece_sweeper.h"
#include "spmv/grid/diffusion_problem.h"
#include "spmv/modes/mode.h"
#include "tools/system/program_system.h"
#include "tools/system/sweep_forecast.h"

namespace weft::tools {
namespace {

using comm_thread::InputError;
using solver::AsyncGuarantee;

}  // namespace

JacobiSystem::JacobiSystem(Job& job, const JacobiOptions& options) : job_(job) {
  const bool is_threaded = options.is_threaded;
  if (is_threaded && job.world().size() > 1)
    throw InputError(fmt::format("--transport openmp: found {} ranks; expected 1, with threads",
                                 job.world().size()));
  options.settings().check_faults(is_threaded ? job.team().thread_count() : job.world().size(),
                                  is_threaded ? "thread" : "rank");
  forecast_ = collective_forecast_jacobi(job, options);
  collective_check_memory(job, options.what(), forecast_);
  if (!options.is_grid()) {
    load_matrix(options);
    return;
  }
  grid_ = spmv::Problem::parse("poisson3d:" + options.grid).grid;
  name_ = fmt::format("diffusion on {} x {} x {} points", grid_.x, grid_.y, grid_.z);
  right_hand_side_ = options.lift == 0 ? "disc" : fmt::format("disc, lifted by {:g}", options.lift);
  partition_.emplace(grid_, job.world().size());
  rows_ = partition_->domain().point_count();
  const std::int64_t faces = grid_.x * grid_.y + grid_.y * grid_.z + grid_.x * grid_.z;
  nonzeros_ = 7 * rows_ - 2 * faces;
}

void JacobiSystem::load_matrix(const JacobiOptions& options) {
  const auto problem = spmv::Problem::parse(options.problem);
  const auto right_hand_side = library::choose_right_hand_side(options.right_hand_side, problem);
  name_ = problem.name();
  right_hand_side_ = right_hand_side.name();
  system_ = collective_make_system(job_, problem, options, false);
  b_ = std::move(system_->collective_right_hand_sides(right_hand_side).front());
  // Residuals are ratios, and nobody sees x.
  library::scale_in_place(matrix(), library::collective_range_of(matrix()).exponent);
  library::scale(matrix(), library::collective_range_of(matrix(), b_.span()).exponent, b_.span(),
                 b_.span());
  collective_weigh_rows(options);
  rows_ = matrix().global_row_count();
  nonzeros_ = system_->nonzero_count();
  if (!options.is_sync() || options.is_strict || options.momentum == "auto")
    estimate_spectrum(options);
  parameters_ = {options.weight, 0};
  if (options.momentum == "auto") {
    // The estimate is a lower bound; a little extra damping covers the gap.
    const double rho = std::min(spectrum_->estimate, spectrum_->upper);
    if (!(rho < 1))
      throw InputError(fmt::format(
          "--momentum: found 'auto' where the spectral radius is {:.4f}; expected one below 1",
          rho));
    parameters_ = solver::richardson_parameters(rho);
  } else {
    parameters_.momentum = std::stod(options.momentum);
  }
}

void JacobiSystem::collective_weigh_rows(const JacobiOptions& options) {
  scales_ = solver::collective_find_row_scales(matrix(), solver::collective_find_traits(matrix()));
  if (!scales_ || !options.inner.empty()) return;
  // Sweeps are the same for the multiple of a row, and b is, too. Blocks need a symmetric matrix.
  const auto& offsets = matrix().matrix().matrix().rows.row_offsets;
  matrix().changeable_matrix().update_values(
      job_.team(), [&](const comm_thread::TeamThread&, spmv::LocalIndex begin, spmv::LocalIndex end,
                       std::span<double> values) {
        for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end);
             ++row) {
          b_[row] *= scales_->weight[row];
          for (auto k = static_cast<std::size_t>(offsets[row]);
               k < static_cast<std::size_t>(offsets[row + 1]); ++k)
            values[k] *= scales_->weight[row];
        }
      });
}

/// Estimates the spectral radius on which asynchronous convergence depends.
void JacobiSystem::estimate_spectrum(const JacobiOptions& options) {
  try {
    spectrum_ = solver::collective_estimate_jacobi_spectrum(matrix());
  } catch (const InputError& error) {
    throw InputError(name_ + ": " + error.what());
  }
  if (options.is_strict && spectrum_->async_guarantee() != AsyncGuarantee::guaranteed)
    throw InputError(fmt::format(
        "{}: the spectral radius of |D^-1 (L+U)| is {:.4f}, between {:.4f} and {:.4f}; expected "
        "less than 1 for certain (--strict)",
        name_, spectrum_->estimate, spectrum_->lower, spectrum_->upper));
}

std::string JacobiSystem::collective_say_what_of_others(const JacobiOptions& options) {
  if (!spectrum_) estimate_spectrum(options);
  const std::string radius = "the spectral radius of |D^-1 (L+U)|";
  const std::string found =
      fmt::format("about {:.4f} after {} power iteration{}", spectrum_->estimate,
                  spectrum_->iterations, spectrum_->iterations == 1 ? "" : "s");
  switch (spectrum_->async_guarantee()) {
    case AsyncGuarantee::guaranteed:
      return fmt::format(
          "{} is at most {:.4f}, below 1 for certain ({}): sweeps with --weight 1 and without "
          "momentum converge, asynchronous ones as well",
          radius, spectrum_->upper, found);
    case AsyncGuarantee::not_guaranteed:
      return fmt::format(
          "{} is at least {:.4f}, not below 1 for certain ({}): asynchronous sweeps may diverge, "
          "too; weft solve does not depend on it",
          radius, spectrum_->lower, found);
    case AsyncGuarantee::unknown:
      break;
  }
  return fmt::format(
      "{} is between {:.4f} and {:.4f} ({}): whether it is below 1, so that asynchronous sweeps "
      "must converge, is not certain; weft solve does not depend on it",
      radius, spectrum_->lower, spectrum_->upper, found);
}

std::string JacobiSystem::decomposition() const {
  if (!partition_) return {};
  const auto& dims = partition_->dims();
  return fmt::format("{}x{}x{}", dims[0], dims[1], dims[2]);
}

JacobiRun JacobiSystem::run(const JacobiOptions& options, ProgressLine& progress) {
  if (options.is_threaded) return run_threads(options);
  if (options.is_grid()) return run_grid(options, progress);
  if (options.has_schwarz()) return run_schwarz(options, progress);
  return options.inner.empty() ? run_matrix(options, progress) : run_blocks(options, progress);
}

JacobiRun JacobiSystem::run_grid(const JacobiOptions& options, ProgressLine& progress) {
  solver::GridSweeper sweeper(
      job_.comm_thread_world(), job_.team(), {.grid = grid_, .lift = options.lift}, *partition_,
      {.halo_depth = options.halo_depth, .has_time_blocking = !options.has_single_sweeps});
  JacobiRun run = iterate(sweeper, sweeper.source_norm(), options, progress);
  run.sweep_method = !options.is_sync() ? "single sweeps, because halos may come after each"
                     : options.sweeps_per_check() == 1 ? "single sweeps, because each is checked"
                                                       : sweeper.sweep_method();
  return run;
}

JacobiRun JacobiSystem::run_matrix(const JacobiOptions& options, ProgressLine& progress) {
  solver::MatrixSweeper sweeper(matrix(), b_.span(),
                                {.weight = parameters_.weight, .momentum = parameters_.momentum});
  JacobiRun run = iterate(sweeper, collective_start(sweeper), options, progress);
  run.sweep_method = "matrix as " + spmv::storage_text(matrix().matrix().format_name(),
                                                       matrix().matrix().storage_times());
  const solver::SolveStatus status = run.report.status;
  if (options.is_sync() &&
      (status == solver::SolveStatus::breakdown ||
       (status == solver::SolveStatus::not_converged && run.report.relative_residual > 1))) {
    if (!run.report.explanation.empty()) run.report.explanation += "; ";
    run.report.explanation += collective_say_what_of_others(options);
  }
  return run;
}

JacobiRun JacobiSystem::run_blocks(const JacobiOptions& options, ProgressLine& progress) {
  solver::BlockSweeper sweeper(
      matrix(), b_.span(), {.inner_tolerance = options.inner_tolerance(), .weights = weights()});
  JacobiRun run = iterate(sweeper, collective_start(sweeper), options, progress);
  run.sweep_method =
      fmt::format("a block per rank, by conjugate gradients to {:g}", options.inner_tolerance());
  run.inner_iterations = sweeper.inner_solves().iterations;
  run.inner_breakdowns = sweeper.inner_solves().breakdowns;
  return run;
}

JacobiRun JacobiSystem::run_schwarz(const JacobiOptions& options, ProgressLine& progress) {
  auto wanted = options.parsed_schwarz();
  wanted.on_forecast = [this](double bytes) {
    note_factors(bytes, forecast_);
    collective_check_memory(job_, name_, forecast_);
  };
  std::unique_ptr<solver::PieceSweeper> sweeper;
  try {
    sweeper = std::make_unique<solver::PieceSweeper>(matrix(), b_.span(), wanted, weights());
  } catch (const InputError& error) {
    throw InputError(name_ + ": " + error.what());
  }
  JacobiRun run = iterate(*sweeper, collective_start(*sweeper), options, progress);
  run.sweep_method = fmt::format("{} subdomains of up to {} rows by CHOLMOD, overlap {}, {}",
                                 sweeper->piece_count(), sweeper->largest_piece(), wanted.overlap,
                                 solver::name(wanted.kind));
  if (wanted.kind == solver::PieceSweeper::Kind::optimized)
    run.sweep_method += fmt::format(" with shift {:g}", wanted.shift);
  return run;
}

solver::SolveIdentity JacobiSystem::collective_identity(const JacobiOptions& options) const {
  solver::SolveIdentity identity =
      solver::identity_of(options.is_grid() ? "jacobi on a grid" : options.method(), rows_);
  std::string settings = options.inner;
  if (options.is_grid()) {
    identity.matrix = solver::text_checksum(name_);
    identity.right_hand_side = solver::text_checksum(right_hand_side_);
  } else {
    identity.matrix = solver::collective_matrix_checksum(matrix(), options.mode);
    identity.right_hand_side = solver::collective_checksum(matrix(), b_.data());
    if (options.inner.empty())
      settings = fmt::format("{:a} {:a}", parameters_.weight, parameters_.momentum);
  }
  identity.preconditioner = solver::text_checksum(settings);
  return identity;
}

double JacobiSystem::collective_start(solver::Sweeper& sweeper) const {
  return library::collective_start_residual(job_.comm_thread_world(), job_.comm_thread(), sweeper,
                                            b_.span());
}

JacobiRun JacobiSystem::iterate(solver::Sweeper& sweeper, double b_norm,
                                const JacobiOptions& options, ProgressLine& progress) {
  const auto show = [&](std::int64_t iteration, double residual) {
    progress.update(iteration, residual);
  };
  if (checkpoints_) {
    const solver::KeptState& state = *sweeper.kept_state();
    checkpoints_->collective_open(state.rows(), job_.team(), collective_identity(options),
                                  state.vector_count());
  }
  JacobiRun run;
  run.report = library::collective_sweep(job_.comm_thread_world(), job_.comm_thread(), sweeper,
                                         options.settings(), b_norm,
                                         {.checkpoints = checkpoints_, .on_check = show});
  run.iterations = {run.report.iterations};
  if (scales_)
    run.report.explanation = fmt::format(
        "rows differ in scale by up to {:.2g}: residuals are those of rows divided by their "
        "scales{}{}",
        scales_->ratio(), run.report.explanation.empty() ? "" : "; ", run.report.explanation);
  return run;
}

JacobiRun JacobiSystem::run_threads(const JacobiOptions& options) {
  using Variant = solver::ThreadedIteration::Variant;
  const solver::GridThreads grid(job_.team(), {.grid = grid_, .lift = options.lift});
  if (checkpoints_)
    checkpoints_->collective_open(grid.rows(), job_.team(), collective_identity(options), 1);
  solver::ThreadedIteration iteration(
      job_.team(), grid.sweepers(),
      {.variant = options.is_sync()                                     ? Variant::sync
                  : options.variant == library::IterationVariant::async ? Variant::async
                                                                        : Variant::racy,
       .tolerance = options.tolerance,
       .max_iterations = options.max_iterations,
       .check_period = options.sweeps_per_check(),
       .contribution_period = options.sweeps_per_check(),
       .faults = options.parsed_faults(),
       .checkpoints = checkpoints_});
  solver::ThreadedReport report = iteration.run(grid.source_norm());
  JacobiRun run;
  run.iterations = report.iterations;
  run.sweep_method = "single sweeps, every thread over planes of its own";
  run.report = std::move(report.whole);
  return run;
}

}  // namespace weft::tools
