#include "solver/sweep/sync_iteration.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/marked_region.h"
#include "solver/report/relative_residual.h"
#include "solver/report/residual_history.h"
#include "solver/report/stop_rule.h"
#include "solver/sweep/channel_refresh.h"
#include "solver/sweep/sweeper_halo.h"

namespace weft::solver {
namespace {

using comm_thread::ExactAccumulator;
using comm_thread::TeamThread;

SyncIteration::Options checked(SyncIteration::Options options) {
  comm_thread::expect_at_least("check period", options.check_period, 1);
  comm_thread::expect_at_least("halo period", options.halo_period, 1);
  comm_thread::expect_at_least("most iterations", options.max_iterations, 0);
  if (!(options.fixed_seconds >= 0))
    throw comm_thread::InputError(
        fmt::format("seconds: found {}; expected 0 or more", options.fixed_seconds));
  return options;
}

std::unique_ptr<HaloRefresh> collective_make_halo(const comm_thread::Communicator& communicator,
                                                  comm_thread::CommThread& comm_thread,
                                                  Sweeper& sweeper,
                                                  const SyncIteration::Options& options) {
  if (options.transport.kind == comm_thread::TransportKind::two_sided)
    return std::make_unique<SweeperHalo>(communicator, comm_thread, sweeper, options.wait);
  return std::make_unique<ChannelRefresh>(communicator, comm_thread, sweeper, options.transport);
}

}  // namespace

/// Around what is sweeping: marks and times it.
class SyncIteration::SweepScope {
 public:
  SweepScope(SyncIteration& iteration, const TeamThread& thread)
      : iteration_(iteration),
        thread_(thread),
        is_disturbed_(thread.is_primary() && iteration.disturbance_.is_active()),
        cpu_before_(is_disturbed_ ? thread_cpu_seconds() : 0) {}
  ~SweepScope() {
    if (is_disturbed_) iteration_.swept_cpu_seconds_ += thread_cpu_seconds() - cpu_before_;
    iteration_.timer_.lap(thread_, &IterationTimes::sweep);
  }
  SweepScope(const SweepScope&) = delete;
  SweepScope& operator=(const SweepScope&) = delete;

 private:
  const perfmodel::MarkedRegion region_{"sweep"};
  SyncIteration& iteration_;
  const TeamThread& thread_;
  const bool is_disturbed_;
  const double cpu_before_;
};

SyncIteration::SyncIteration(const comm_thread::Communicator& communicator,
                             comm_thread::CommThread& comm_thread, Sweeper& sweeper,
                             Options options)
    : comm_thread_(comm_thread),
      sweeper_(sweeper),
      options_(checked(std::move(options))),
      halo_(collective_make_halo(communicator, comm_thread, sweeper, options_)),
      sums_(communicator, comm_thread, sweeper.team().thread_count(),
            sweeper.tile_judge() || options_.fixed_seconds > 0 ? sum_count : 1) {}

void SyncIteration::refresh_halo(const TeamThread& thread) {
  halo_->start(thread, options_.mode, timer_);
  halo_->finish(thread, timer_);
}

void SyncIteration::sweep(const TeamThread& thread, bool is_exchanging,
                          ExactAccumulator* residual_square) {
  const bool is_split =
      is_exchanging && halo_->has_neighbours() && options_.mode != spmv::Mode::vector;
  if (is_exchanging) halo_->start(thread, options_.mode, timer_);
  if (is_split) {
    const SweepScope scope(*this, thread);
    sweeper_.sweep(thread, SweepPart::interior, residual_square);
  }
  if (is_split) disturb(thread, 0);
  if (is_exchanging) halo_->finish(thread, timer_);
  {
    const SweepScope scope(*this, thread);
    sweeper_.sweep(thread, is_split ? SweepPart::boundary : SweepPart::all, residual_square);
  }
  disturb(thread, 1);
}

void SyncIteration::finish_sweep(const TeamThread& thread, std::int64_t iteration) {
  thread.barrier();
  if (thread.is_primary()) {
    sweeper_.finish_sweep();
    ask(iteration);
  }
  thread.barrier();
  timer_.lap(thread, &IterationTimes::sweep);
}

int SyncIteration::collective_advance(const TeamThread& thread, std::int64_t iteration,
                                      std::int64_t end) {
  const bool is_exchanging = is_exchange_due(iteration);
  const bool has_neighbours = halo_->has_neighbours();
  if (has_neighbours && sweeper_.sweeps_per_exchange() == 1) {
    sweep(thread, is_exchanging, nullptr);
    finish_sweep(thread, iteration + 1);
    return 1;
  }
  if (is_exchanging) refresh_halo(thread);
  const std::int64_t most = has_neighbours ? sweeper_.sweeps_per_exchange() : end - iteration;
  const int count = static_cast<int>(std::min(most, end - iteration));
  {
    const SweepScope scope(*this, thread);
    sweeper_.advance(thread, count);
  }
  disturb(thread, count);
  if (thread.is_primary()) ask(iteration + count);
  thread.barrier();
  timer_.lap(thread, &IterationTimes::sweep);
  return count;
}

std::int64_t SyncIteration::collective_begin(const TeamThread& thread) {
  if (!options_.checkpoints || !options_.checkpoints->has_state()) return 0;
  return solver::collective_restore(*options_.checkpoints, thread, *sweeper_.kept_state());
}

void SyncIteration::ask(std::int64_t iteration) {
  if (!options_.checkpoints) return;
  const Checkpoints::Wish wish = options_.checkpoints->after_iteration(iteration - 1);
  if (wish != Checkpoints::Wish::none && wish_ != Checkpoints::Wish::keep_and_stop) wish_ = wish;
}

/// Where no other state can be kept before the last iteration, this one is.
bool SyncIteration::is_keeping(std::int64_t iteration) const {
  return options_.checkpoints && iteration % sweeps_between_ == 0 && iteration != kept_iteration_ &&
         (wish_ != Checkpoints::Wish::none ||
          iteration + sweeps_between_ > options_.max_iterations);
}

bool SyncIteration::collective_keep(const TeamThread& thread, std::int64_t iteration) {
  if (!is_keeping(iteration)) return false;
  const bool stops = wish_ == Checkpoints::Wish::keep_and_stop;
  solver::collective_keep(*options_.checkpoints, thread, iteration, *sweeper_.kept_state());
  if (thread.is_primary()) {
    wish_ = Checkpoints::Wish::none;
    kept_iteration_ = iteration;
  }
  thread.barrier();
  return stops;
}

bool SyncIteration::is_exchange_due(std::int64_t iteration) const {
  return iteration / sweeper_.sweeps_per_exchange() % options_.halo_period == 0;
}

void SyncIteration::disturb(const TeamThread& thread, int sweep_count) {
  if (!thread.is_primary() || !disturbance_.is_active()) return;
  disturbance_.after_sweep(std::exchange(swept_cpu_seconds_, 0), sweep_count);
  timer_.lap(thread, &IterationTimes::injected);
}

double SyncIteration::collective_sweep_and_check(const TeamThread& thread, double b_norm) {
  sweep(thread, true, &sums_.part(thread.index, squares));
  return collective_sum_up(thread, b_norm);
}

double SyncIteration::collective_residual(const TeamThread& thread, double b_norm) {
  refresh_halo(thread);
  sweeper_.add_residual(thread, SweepState::current, sums_.part(thread.index, squares));
  return collective_sum_up(thread, b_norm);
}

double SyncIteration::collective_sum_up(const TeamThread& thread, double b_norm) {
  if (const TileJudge* const judge = sweeper_.tile_judge())
    sums_.part(thread.index, unconverged_tiles)
        .add(static_cast<double>(judge->unconverged_count(thread.index)));
  if (options_.fixed_seconds > 0 && thread.is_primary() &&
      timer_.seconds() >= options_.fixed_seconds)
    sums_.part(thread.index, ranks_out_of_time).add(1);
  const perfmodel::MarkedRegion region("reduction");
  sums_.collective_start(thread);
  if (thread.is_primary()) own_square_ = sums_.own_sum(squares);
  sums_.collective_finish(thread);
  timer_.lap(thread, &IterationTimes::reduction);
  return relative_residual(sums_.result(squares), b_norm);
}

SolveStatus SyncIteration::status_of(double residual) const {
  if (!sweeper_.tile_judge() || !std::isfinite(residual))
    return StopRule({.tolerance = options_.tolerance}, 1).status_at(residual);
  return sums_.result(unconverged_tiles) == 0 ? SolveStatus::converged : SolveStatus::not_converged;
}

bool SyncIteration::is_over(double residual) const {
  const SolveStatus status = status_of(residual);
  if (options_.fixed_seconds == 0) return status != SolveStatus::not_converged;
  return status == SolveStatus::breakdown || sums_.result(ranks_out_of_time) > 0;
}

void SyncIteration::note(const TeamThread& thread, std::int64_t iteration, double residual,
                         IterationReport& report) {
  if (!thread.is_primary()) return;
  report.status = status_of(residual);
  report.iterations = iteration;
  report.history.push_back({timer_.seconds(), residual});
  own_squares_.record(timer_.seconds(), own_square_, static_cast<std::uint64_t>(iteration));
  if (options_.on_check) options_.on_check(iteration, residual);
}

/// Computed alike by every thread; only the primary thread writes to `report`.
void SyncIteration::iterate(const TeamThread& thread, double b_norm, IterationReport& report) {
  timer_.start_recording();
  std::int64_t iteration = collective_begin(thread);
  bool goes_on = true;
  bool is_stopped = false;
  while (goes_on) {
    is_stopped = collective_keep(thread, iteration);
    if (is_stopped || iteration >= options_.max_iterations) break;
    if (iteration % options_.check_period == 0) {
      const double residual = collective_sweep_and_check(thread, b_norm);
      note(thread, iteration, residual, report);
      goes_on = !is_over(residual);
      if (!goes_on) break;
      finish_sweep(thread, ++iteration);
    }
    const std::int64_t next_check = std::min(
        options_.max_iterations, (iteration / options_.check_period + 1) * options_.check_period);
    while (iteration % options_.check_period != 0 && iteration < next_check &&
           !is_keeping(iteration))
      iteration += collective_advance(thread, iteration, next_check);
  }
  const double residual = collective_residual(thread, b_norm);
  if (goes_on) note(thread, iteration, residual, report);
  if (!thread.is_primary()) return;
  report.relative_residual = residual;
  if (is_stopped && report.status == SolveStatus::not_converged)
    report.status = SolveStatus::stopped;
}

IterationReport SyncIteration::run(double b_norm) {
  IterationReport report;
  report.history.reserve(1024);
  disturbance_ = options_.disturbance;
  swept_cpu_seconds_ = 0;
  own_squares_ = {};
  wish_ = Checkpoints::Wish::none;
  if (const Checkpoints* const checkpoints = options_.checkpoints) {
    sweeps_between_ =
        options_.halo_period > 1 ? options_.check_period : sweeper_.kept_state()->sweeps_between();
    kept_iteration_ = checkpoints->has_state() ? checkpoints->state_iteration() : -1;
  }
  const double cpu_before = comm_thread_.cpu_seconds();
  timer_.start();
  sweeper_.team().run([&](const TeamThread& thread) { iterate(thread, b_norm, report); });
  report.seconds = timer_.seconds();
  report.times = timer_.times();
  report.comm_thread_cpu_seconds = comm_thread_.cpu_seconds() - cpu_before;
  report.own_history = own_residual_history(own_squares_, b_norm);
  if (report.status == SolveStatus::breakdown)
    report.explanation = fmt::format(
        "the residual is not finite after {} iterations: the iteration diverges, or the system is "
        "out of the range of double",
        report.iterations);
  return report;
}

}  // namespace weft::solver
