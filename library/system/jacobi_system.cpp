#include "library/system/jacobi_system.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
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
#include "spmv/grid/grid_layout.h"
#include "spmv/modes/mode.h"

namespace weft::library {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;
using comm_thread::option_name;
using solver::AsyncGuarantee;

constexpr double value_bytes = 8;

/// Values that all neighbours of a rank's box get from it, or it from them, at depth 1.
double halo_values(const spmv::GridPartition& partition, const spmv::GridBox& own) {
  const spmv::GridBox domain = partition.domain();
  double values = 0;
  for (const std::size_t d : {0U, 1U, 2U}) {
    const double face = static_cast<double>(own.size((d + 1) % 3) * own.size((d + 2) % 3));
    values += face * ((own.begin[d] > domain.begin[d]) + (own.end[d] < domain.end[d]));
  }
  return values;
}

/// What channels keep of messages that are on their way, sent and received; shared memory is
/// written where it is.
void add_channels(const JacobiSettings& settings, double halo_values, MemoryForecast& forecast) {
  if (settings.is_sync() || settings.is_threaded) return;
  if (settings.transport.kind == comm_thread::TransportKind::shared) return;
  forecast.parts.push_back(
      {"messages", 2 * value_bytes * halo_values * static_cast<double>(settings.max_in_flight)});
}

/// A grid, swept from one array into another.
MemoryForecast forecast_grid(const Communicator& communicator, const JacobiSettings& settings) {
  const spmv::GridPartition partition(spmv::Problem::parse("poisson3d:" + settings.grid).grid,
                                      communicator.size());
  const spmv::GridBox own = partition.box(communicator.rank());
  MemoryForecast forecast = forecast_operator(communicator, {}, settings, true);
  const auto elements =
      static_cast<double>(spmv::GridLayout(own, settings.halo_depth).element_count());
  forecast.parts.push_back({"grids", 2 * value_bytes * elements});
  add_channels(settings, halo_values(partition, own), forecast);
  return forecast;
}

}  // namespace

MemoryForecast collective_forecast_jacobi(const Communicator& communicator,
                                          const std::string& problem,
                                          const JacobiSettings& settings) {
  if (settings.is_grid()) return forecast_grid(communicator, settings);
  const auto parsed = spmv::Problem::parse(problem);
  const SystemSize size = collective_system_size(communicator, parsed, settings);
  MemoryForecast forecast = forecast_operator(communicator, size, settings, false);
  const bool has_momentum = settings.momentum != "0";
  const bool has_spectrum =
      !settings.is_sync() || settings.is_strict || settings.momentum == "auto";
  // b, the scale, x before and after, and what goes with them; of a block the vectors of cg.
  const double arrays = settings.inner.empty()   ? 4 + has_momentum + has_spectrum
                        : settings.has_schwarz() ? 4
                                                 : 7;
  add_vectors(size, arrays, 2, 0, forecast);
  add_channels(settings, size.halo_per_rank, forecast);
  return forecast;
}

JacobiSystem::JacobiSystem(comm_thread::Job& job, const std::string& problem,
                           const JacobiSettings& settings, LinearSystem::OnRemark on_remark)
    : job_(job) {
  const bool is_threaded = settings.is_threaded;
  if (is_threaded && job.world().size() > 1)
    throw InputError(fmt::format("{}: found {} ranks; expected 1, with threads",
                                 option_name("transport", "openmp"), job.world().size()));
  settings.check_faults(is_threaded ? job.team().thread_count() : job.world().size(),
                        is_threaded ? "thread" : "rank");
  forecast_ = collective_forecast_jacobi(job.world(), problem, settings);
  collective_check_memory(job, settings.is_grid() ? option_name("grid", settings.grid) : problem,
                          forecast_);
  if (!settings.is_grid()) {
    load_matrix(spmv::Problem::parse(problem), settings, std::move(on_remark));
    return;
  }
  grid_ = spmv::Problem::parse("poisson3d:" + settings.grid).grid;
  name_ = fmt::format("diffusion on {} x {} x {} points", grid_.x, grid_.y, grid_.z);
  right_hand_side_ =
      settings.lift == 0 ? "disc" : fmt::format("disc, lifted by {:g}", settings.lift);
  partition_.emplace(grid_, job.world().size());
  rows_ = partition_->domain().point_count();
  const std::int64_t faces = grid_.x * grid_.y + grid_.y * grid_.z + grid_.x * grid_.z;
  nonzeros_ = 7 * rows_ - 2 * faces;
}

void JacobiSystem::load_matrix(const spmv::Problem& problem, const JacobiSettings& settings,
                               LinearSystem::OnRemark on_remark) {
  const auto right_hand_side = choose_right_hand_side(settings.right_hand_side, problem);
  name_ = problem.name();
  right_hand_side_ = right_hand_side.name();
  system_ = std::make_unique<LinearSystem>(job_.crew(), problem, settings, false);
  if (!system_->half().empty()) throw InputError(system_->half());
  if (on_remark) system_->tell_remarks(std::move(on_remark));
  b_ = std::move(system_->collective_right_hand_sides(right_hand_side).front());
  // Residuals are ratios, and nobody sees x.
  scale_in_place(matrix(), collective_range_of(matrix()).exponent);
  scale(matrix(), collective_range_of(matrix(), b_.span()).exponent, b_.span(), b_.span());
  collective_weigh_rows(settings);
  rows_ = matrix().global_row_count();
  nonzeros_ = system_->nonzero_count();
  if (!settings.is_sync() || settings.is_strict || settings.momentum == "auto")
    estimate_spectrum(settings);
  parameters_ = {settings.weight, 0};
  if (settings.momentum == "auto") {
    // The estimate is a lower bound; a little extra damping covers the gap.
    const double rho = std::min(spectrum_->estimate, spectrum_->upper);
    if (!(rho < 1))
      throw InputError(
          fmt::format("{}: found 'auto' where the spectral radius is {:.4f}; expected one below 1",
                      option_name("momentum"), rho));
    parameters_ = solver::richardson_parameters(rho);
  } else {
    parameters_.momentum = std::stod(settings.momentum);
  }
}

void JacobiSystem::collective_weigh_rows(const JacobiSettings& settings) {
  scales_ = solver::collective_find_row_scales(matrix(), solver::collective_find_traits(matrix()));
  if (!scales_ || !settings.inner.empty()) return;
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
void JacobiSystem::estimate_spectrum(const JacobiSettings& settings) {
  try {
    spectrum_ = solver::collective_estimate_jacobi_spectrum(matrix());
  } catch (const InputError& error) {
    throw InputError(name_ + ": " + error.what());
  }
  if (settings.is_strict && spectrum_->async_guarantee() != AsyncGuarantee::guaranteed)
    throw InputError(fmt::format(
        "{}: the spectral radius of |D^-1 (L+U)| is {:.4f}, between {:.4f} and {:.4f}; expected "
        "less than 1 for certain (--strict)",
        name_, spectrum_->estimate, spectrum_->lower, spectrum_->upper));
}

std::string JacobiSystem::collective_say_what_of_others(const JacobiSettings& settings) {
  if (!spectrum_) estimate_spectrum(settings);
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

JacobiRun JacobiSystem::run(const JacobiSettings& settings, const OnCheck& on_check) {
  if (settings.is_threaded) return run_threads(settings);
  if (settings.is_grid()) return run_grid(settings, on_check);
  if (settings.has_schwarz()) return run_schwarz(settings, on_check);
  return settings.inner.empty() ? run_matrix(settings, on_check) : run_blocks(settings, on_check);
}

JacobiRun JacobiSystem::run_grid(const JacobiSettings& settings, const OnCheck& on_check) {
  solver::GridSweeper sweeper(
      job_.comm_thread_world(), job_.team(), {.grid = grid_, .lift = settings.lift}, *partition_,
      {.halo_depth = settings.halo_depth, .has_time_blocking = !settings.has_single_sweeps});
  JacobiRun run = iterate(sweeper, sweeper.source_norm(), settings, on_check);
  run.sweep_method = !settings.is_sync() ? "single sweeps, because halos may come after each"
                     : settings.sweeps_per_check() == 1 ? "single sweeps, because each is checked"
                                                        : sweeper.sweep_method();
  return run;
}

JacobiRun JacobiSystem::run_matrix(const JacobiSettings& settings, const OnCheck& on_check) {
  solver::MatrixSweeper sweeper(matrix(), b_.span(),
                                {.weight = parameters_.weight, .momentum = parameters_.momentum});
  JacobiRun run = iterate(sweeper, collective_start(sweeper), settings, on_check);
  run.sweep_method = "matrix as " + spmv::storage_text(matrix().matrix().format_name(),
                                                       matrix().matrix().storage_times());
  const solver::SolveStatus status = run.report.status;
  if (settings.is_sync() &&
      (status == solver::SolveStatus::breakdown ||
       (status == solver::SolveStatus::not_converged && run.report.relative_residual > 1))) {
    if (!run.report.explanation.empty()) run.report.explanation += "; ";
    run.report.explanation += collective_say_what_of_others(settings);
  }
  return run;
}

JacobiRun JacobiSystem::run_blocks(const JacobiSettings& settings, const OnCheck& on_check) {
  solver::BlockSweeper sweeper(
      matrix(), b_.span(), {.inner_tolerance = settings.inner_tolerance(), .weights = weights()});
  JacobiRun run = iterate(sweeper, collective_start(sweeper), settings, on_check);
  run.sweep_method =
      fmt::format("a block per rank, by conjugate gradients to {:g}", settings.inner_tolerance());
  run.inner_iterations = sweeper.inner_solves().iterations;
  run.inner_breakdowns = sweeper.inner_solves().breakdowns;
  return run;
}

JacobiRun JacobiSystem::run_schwarz(const JacobiSettings& settings, const OnCheck& on_check) {
  auto wanted = settings.parsed_schwarz();
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
  JacobiRun run = iterate(*sweeper, collective_start(*sweeper), settings, on_check);
  run.sweep_method = fmt::format("{} subdomains of up to {} rows by CHOLMOD, overlap {}, {}",
                                 sweeper->piece_count(), sweeper->largest_piece(), wanted.overlap,
                                 solver::name(wanted.kind));
  if (wanted.kind == solver::PieceSweeper::Kind::optimized)
    run.sweep_method += fmt::format(" with shift {:g}", wanted.shift);
  return run;
}

solver::SolveIdentity JacobiSystem::collective_identity(const JacobiSettings& settings) const {
  solver::SolveIdentity identity =
      solver::identity_of(settings.is_grid() ? "jacobi on a grid" : settings.method(), rows_);
  std::string parameters = settings.inner;
  if (settings.is_grid()) {
    identity.matrix = solver::text_checksum(name_);
    identity.right_hand_side = solver::text_checksum(right_hand_side_);
  } else {
    identity.matrix = solver::collective_matrix_checksum(matrix(), settings.mode);
    identity.right_hand_side = solver::collective_checksum(matrix(), b_.data());
    if (settings.inner.empty())
      parameters = fmt::format("{:a} {:a}", parameters_.weight, parameters_.momentum);
  }
  identity.preconditioner = solver::text_checksum(parameters);
  return identity;
}

double JacobiSystem::collective_start(solver::Sweeper& sweeper) const {
  return collective_start_residual(job_.comm_thread_world(), job_.comm_thread(), sweeper,
                                   b_.span());
}

JacobiRun JacobiSystem::iterate(solver::Sweeper& sweeper, double b_norm,
                                const JacobiSettings& settings, const OnCheck& on_check) {
  if (checkpoints_) {
    const solver::KeptState& state = *sweeper.kept_state();
    checkpoints_->collective_open(state.rows(), job_.team(), collective_identity(settings),
                                  state.vector_count());
  }
  JacobiRun run;
  run.report =
      collective_sweep(job_.comm_thread_world(), job_.comm_thread(), sweeper, settings.iteration(),
                       b_norm, {.checkpoints = checkpoints_, .on_check = on_check});
  run.iterations = {run.report.iterations};
  if (scales_)
    run.report.explanation = fmt::format(
        "rows differ in scale by up to {:.2g}: residuals are those of rows divided by their "
        "scales{}{}",
        scales_->ratio(), run.report.explanation.empty() ? "" : "; ", run.report.explanation);
  return run;
}

JacobiRun JacobiSystem::run_threads(const JacobiSettings& settings) {
  using Variant = solver::ThreadedIteration::Variant;
  const solver::GridThreads grid(job_.team(), {.grid = grid_, .lift = settings.lift});
  if (checkpoints_)
    checkpoints_->collective_open(grid.rows(), job_.team(), collective_identity(settings), 1);
  solver::ThreadedIteration iteration(
      job_.team(), grid.sweepers(),
      {.variant = settings.is_sync()                            ? Variant::sync
                  : settings.variant == IterationVariant::async ? Variant::async
                                                                : Variant::racy,
       .tolerance = settings.tolerance,
       .max_iterations = settings.max_iterations,
       .check_period = settings.sweeps_per_check(),
       .contribution_period = settings.sweeps_per_check(),
       .faults = settings.parsed_faults(),
       .checkpoints = checkpoints_});
  solver::ThreadedReport report = iteration.run(grid.source_norm());
  JacobiRun run;
  run.iterations = report.iterations;
  run.sweep_method = "single sweeps, every thread over planes of its own";
  run.report = std::move(report.whole);
  return run;
}

}  // namespace weft::library
