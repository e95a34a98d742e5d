#include "solver/sweep/async_iteration.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/termination/contribution_history.h"
#include "comm_thread/termination/termination.h"
#include "comm_thread/waiting/team_barrier.h"
#include "perfmodel/marked_region.h"
#include "solver/report/iteration_timer.h"
#include "solver/report/relative_residual.h"
#include "solver/report/residual_history.h"
#include "solver/report/stop_rule.h"
#include "solver/sweep/channel_halo.h"
#include "solver/sweep/halo_period_choice.h"
#include "solver/sweep/shared_core.h"
#include "solver/sweep/team_sum.h"

namespace weft::solver {
namespace {

using comm_thread::HaloNeighbour;
using comm_thread::SweepAction;
using comm_thread::TeamThread;

AsyncIteration::Options checked(AsyncIteration::Options options) {
  comm_thread::expect_at_least("halo period", options.halo_period,
                               AsyncIteration::automatic_halo_period);
  comm_thread::expect_at_least("contribution period", options.contribution_period, 1);
  comm_thread::expect_at_least("most iterations", options.max_iterations, 0);
  if (!(options.fixed_seconds >= 0))
    throw comm_thread::InputError(
        fmt::format("seconds: found {}; expected 0 or more", options.fixed_seconds));
  return options;
}

}  // namespace

/// State of one run. The primary thread writes it, while the others wait in a barrier
/// or where they do not look.
class AsyncIteration::Run {
 public:
  /// Collective.
  Run(AsyncIteration& iteration, double b_norm);

  /// Thread: every thread of the team.
  void iterate(const TeamThread& thread);

  /// Keeps what is still to be kept. Collective. After `iterate`.
  void collective_settle_checkpoints();

  /// Collective. After `iterate`.
  IterationReport collective_report();

 private:
  void begin(const TeamThread& thread);
  void keep(const TeamThread& thread);
  void exchange(const TeamThread& thread);
  void sweep(const TeamThread& thread);
  void decide(const TeamThread& thread);
  bool shares_core() const {
    return whole_.comm_thread_.wait_policy() == comm_thread::WaitPolicy::yield;
  }
  void measure();
  void contribute();
  double unconverged_count() const;
  int halo_period() const;
  void plan_exchange(const TeamThread& thread);
  void act(const TeamThread& thread);
  void record_snapshot(const TeamThread& thread);
  void evaluate_snapshot(const TeamThread& thread);
  void collective_verify(const TeamThread& thread);

  AsyncIteration& whole_;
  Sweeper& sweeper_;
  const Options& options_;
  double b_norm_;
  TileJudge* judge_;  // null: the residual of the whole decides
  double threshold_;  // of the sum of the squares of b − A·x, or of tiles that have not converged
  double cpu_before_;
  double cpu_seen_;  // after the last sweep
  ChannelHalo channels_;
  SharedCore shared_core_;
  comm_thread::Termination termination_;
  IterationTimer timer_;  // begins at the same time on all ranks
  IterationTimes times_before_;  // before the exchange and the sweep in progress
  TeamSum own_square_;
  comm_thread::ContributionHistory contributions_;
  HaloPeriodChoice period_choice_;
  Disturbance disturbance_;

  std::int64_t iteration_ = 0;  // sweeps so far
  std::int64_t next_contribution_ = 0;  // the iteration of which it is
  std::int64_t last_sent_ = 0;
  double contribution_ = std::numeric_limits<double>::infinity();  // the last
  bool is_finite_ = true;
  SweepAction action_ = SweepAction::sweep;
  Checkpoints::Wish wish_ = Checkpoints::Wish::none;
  bool has_ended_ = false;
  double true_square_ = 0;  // of the last verification
  double end_seconds_ = 0;
};

AsyncIteration::Run::Run(AsyncIteration& iteration, double b_norm)
    : whole_(iteration),
      sweeper_(iteration.sweeper_),
      options_(iteration.options_),
      b_norm_(b_norm),
      judge_(sweeper_.tile_judge()),
      threshold_(judge_ ? 0
                        : StopRule({.tolerance = options_.tolerance}, b_norm > 0 ? b_norm : 1)
                              .wanted_square()),
      cpu_before_(iteration.comm_thread_.cpu_seconds()),
      cpu_seen_(cpu_before_),
      channels_(iteration.communicator_, iteration.comm_thread_, sweeper_,
                {.delivery = options_.delivery,
                 .transport = options_.transport,
                 .max_in_flight = options_.max_in_flight}),
      termination_(iteration.communicator_, iteration.comm_thread_,
                   {.detector = options_.detector,
                    .threshold = threshold_,
                    .neighbours = sweeper_.neighbours()}),
      own_square_(sweeper_.team().thread_count()),
      disturbance_(options_.disturbance) {
  timer_.start();
}

void AsyncIteration::Run::iterate(const TeamThread& thread) {
  timer_.start_recording();
  begin(thread);
  whole_.halo_.start(thread, spmv::Mode::task, timer_);
  whole_.halo_.finish(thread, timer_);
  if (thread.is_primary()) channels_.plan(iteration_, false);
  thread.barrier();
  while (!has_ended_) {
    exchange(thread);
    sweep(thread);
    if (thread.is_primary()) decide(thread);
    thread.barrier();
    act(thread);
  }
  if (thread.is_primary()) end_seconds_ = timer_.seconds();
}

void AsyncIteration::Run::begin(const TeamThread& thread) {
  if (!options_.checkpoints || !options_.checkpoints->has_state()) return;
  const std::int64_t iteration =
      collective_restore(*options_.checkpoints, thread, *sweeper_.kept_state());
  if (!thread.is_primary()) return;
  iteration_ = next_contribution_ = last_sent_ = iteration;
}

void AsyncIteration::Run::keep(const TeamThread& thread) {
  collective_keep(*options_.checkpoints, thread, iteration_, *sweeper_.kept_state());
}

/// Where the run has not converged, the values at its end, too.
void AsyncIteration::Run::collective_settle_checkpoints() {
  int count = options_.checkpoints->collective_settle();
  if (!termination_.has_converged() && std::isfinite(true_square_)) ++count;
  for (; count > 0; --count)
    sweeper_.team().run([this](const TeamThread& thread) { keep(thread); });
}

void AsyncIteration::Run::exchange(const TeamThread& thread) {
  if (thread.is_primary()) times_before_ = timer_.times();
  const perfmodel::MarkedRegion region("pack");
  channels_.copy(thread);
  if (thread.is_primary()) channels_.send(iteration_);
  timer_.lap(thread, &IterationTimes::pack);
}

void AsyncIteration::Run::sweep(const TeamThread& thread) {
  const bool contributes = iteration_ >= next_contribution_;
  const bool is_disturbed = thread.is_primary() && disturbance_.is_active();
  const double cpu_before = is_disturbed ? thread_cpu_seconds() : 0;
  {
    const perfmodel::MarkedRegion region("sweep");
    sweeper_.sweep(thread, SweepPart::all, contributes ? &own_square_.part(thread.index) : nullptr);
    if (judge_) judge_->judge(thread);
    timer_.lap(thread, &IterationTimes::sweep);
  }
  if (is_disturbed) {
    disturbance_.after_sweep(thread_cpu_seconds() - cpu_before);
    timer_.lap(thread, &IterationTimes::injected);
  }
  thread.barrier();
}

/// Between two sweeps, while the other threads wait.
void AsyncIteration::Run::decide(const TeamThread& thread) {
  sweeper_.finish_sweep();
  timer_.lap(thread, &IterationTimes::sweep);
  measure();
  if (iteration_ >= next_contribution_) contribute();
  if (judge_) contribution_ = unconverged_count();
  ++iteration_;
  if (options_.checkpoints && wish_ != Checkpoints::Wish::keep_and_stop)
    wish_ = options_.checkpoints->after_sweep(iteration_);
  const bool has_fixed_time = options_.fixed_seconds > 0;
  const bool is_converged =
      !has_fixed_time && contribution_ <= threshold_ / whole_.communicator_.size();
  const bool gives_up = iteration_ >= options_.max_iterations || !is_finite_ ||
                        wish_ == Checkpoints::Wish::keep_and_stop ||
                        (has_fixed_time && timer_.seconds() >= options_.fixed_seconds);
  const double contribution =
      has_fixed_time ? std::numeric_limits<double>::infinity() : contribution_;
  action_ = termination_.after_sweep(
      {contribution, is_converged, gives_up, static_cast<std::uint64_t>(iteration_)});
  if (shares_core() && !sweeper_.neighbours().empty())
    shared_core_.let_others_run(channels_.message_count());
  timer_.lap(thread, &IterationTimes::reduction);
  plan_exchange(thread);
}

/// Costs of the sweep and of the exchange before it, for the choice of the halo period. A
/// communication thread that shares the core takes its time from the sweeps.
void AsyncIteration::Run::measure() {
  if (options_.halo_period != automatic_halo_period) return;
  const IterationTimes& now = timer_.times();
  const ChannelHalo::Traffic& traffic = channels_.traffic();
  const comm_thread::CommThread& comm_thread = whole_.comm_thread_;
  const double cpu_seen = std::exchange(cpu_seen_, comm_thread.cpu_seconds());
  const double comm_thread_seconds = shares_core() ? cpu_seen_ - cpu_seen : 0;
  period_choice_.add(
      {.sweep_seconds = now.sweep - times_before_.sweep + now.injected - times_before_.injected,
       .copy_seconds = now.pack - times_before_.pack + comm_thread_seconds,
       .sent_count = traffic.sent_count,
       .skipped_count = traffic.skipped_count,
       .unpacked_count = traffic.unpacked_count});
}

void AsyncIteration::Run::contribute() {
  const double square_sum = own_square_.collect();
  if (!judge_) contribution_ = square_sum;
  is_finite_ = std::isfinite(square_sum);
  next_contribution_ = iteration_ + options_.contribution_period;
  contributions_.record(timer_.seconds(), square_sum, static_cast<std::uint64_t>(iteration_));
  if (options_.on_contribution)
    options_.on_contribution(iteration_, relative_residual(square_sum, b_norm_));
}

/// Of this rank, while nobody computes residuals.
double AsyncIteration::Run::unconverged_count() const {
  std::int64_t count = 0;
  for (int thread = 0; thread < sweeper_.team().thread_count(); ++thread)
    count += judge_->unconverged_count(thread);
  return static_cast<double>(count);
}

int AsyncIteration::Run::halo_period() const {
  return options_.halo_period == automatic_halo_period ? period_choice_.period()
                                                       : options_.halo_period;
}

void AsyncIteration::Run::plan_exchange(const TeamThread& thread) {
  if (action_ == SweepAction::verify) {
    channels_.plan_nothing();
    return;
  }
  const bool is_sending = iteration_ - last_sent_ >= halo_period();
  if (is_sending) last_sent_ = iteration_;
  channels_.plan(iteration_, is_sending);
  timer_.lap(thread, &IterationTimes::pack);
}

void AsyncIteration::Run::act(const TeamThread& thread) {
  if (wish_ == Checkpoints::Wish::keep) keep(thread);
  switch (action_) {
    case SweepAction::sweep:
      return;
    case SweepAction::record_snapshot:
      return record_snapshot(thread);
    case SweepAction::evaluate_snapshot:
      return evaluate_snapshot(thread);
    case SweepAction::verify:
      return collective_verify(thread);
  }
}

void AsyncIteration::Run::record_snapshot(const TeamThread& thread) {
  sweeper_.record(thread);
  thread.barrier();
  const std::span<const HaloNeighbour> neighbours = sweeper_.neighbours();
  for (std::size_t i = 0; i < neighbours.size(); ++i)
    sweeper_.pack(thread, SweepState::recorded, i,
                  sent_part(neighbours[i], termination_.snapshot_send_buffer()));
  thread.barrier();
  if (thread.is_primary()) termination_.snapshot_recorded();
  timer_.lap(thread, &IterationTimes::reduction);
}

void AsyncIteration::Run::evaluate_snapshot(const TeamThread& thread) {
  const std::span<const HaloNeighbour> neighbours = sweeper_.neighbours();
  for (std::size_t i = 0; i < neighbours.size(); ++i)
    sweeper_.unpack(thread, SweepState::recorded, i,
                    received_part(neighbours[i], termination_.snapshot_halo()));
  thread.barrier();
  sweeper_.add_residual(thread, SweepState::recorded, own_square_.part(thread.index));
  thread.barrier();
  if (thread.is_primary()) {
    const double square_sum = own_square_.collect();
    termination_.snapshot_evaluated(judge_ ? unconverged_count() : square_sum);
  }
  thread.barrier();  // nobody adds again before
  timer_.lap(thread, &IterationTimes::reduction);
}

void AsyncIteration::Run::collective_verify(const TeamThread& thread) {
  if (judge_) judge_->collective_settle(thread);
  whole_.halo_.start(thread, spmv::Mode::task, timer_);
  whole_.halo_.finish(thread, timer_);
  comm_thread::ReproducibleSum& sums = whole_.true_sums_;
  sweeper_.add_residual(thread, SweepState::current, sums.part(thread.index));
  if (judge_)
    sums.part(thread.index, 1).add(static_cast<double>(judge_->unconverged_count(thread.index)));
  sums.collective_reduce(thread);
  if (thread.is_primary()) {
    true_square_ = sums.result();
    has_ended_ = termination_.collective_verified(judge_ ? sums.result(1) : true_square_);
    next_contribution_ = iteration_;  // the detector needs one from the new epoch
    action_ = SweepAction::sweep;
    timer_.lap(thread, &IterationTimes::reduction);
    if (!has_ended_) plan_exchange(thread);
  }
  thread.barrier();
}

IterationReport AsyncIteration::Run::collective_report() {
  channels_.collective_close();
  IterationReport report;
  report.comm_thread_cpu_seconds = whole_.comm_thread_.cpu_seconds() - cpu_before_;
  report.iterations = iteration_;
  report.seconds = end_seconds_;
  report.times = timer_.times();
  report.halo_period = halo_period();
  report.relative_residual = relative_residual(true_square_, b_norm_);
  if (!std::isfinite(true_square_)) {
    report.status = SolveStatus::breakdown;
    report.explanation =
        "the residual is not finite: the iteration diverges, or the system is out of the range of "
        "double";
  } else if (termination_.has_converged()) {
    report.status = SolveStatus::converged;
  } else if (options_.checkpoints && options_.checkpoints->stop_signal() != 0) {
    report.status = SolveStatus::stopped;
  }
  report.history = collective_residual_history(whole_.communicator_, contributions_, end_seconds_,
                                               report.relative_residual, b_norm_);
  report.own_history = own_residual_history(contributions_, b_norm_);
  channels_.report(report);
  report.detection = termination_.collective_report(whole_.communicator_);
  return report;
}

AsyncIteration::AsyncIteration(const comm_thread::Communicator& communicator,
                               comm_thread::CommThread& comm_thread, Sweeper& sweeper,
                               Options options)
    : communicator_(communicator),
      comm_thread_(comm_thread),
      sweeper_(sweeper),
      options_(checked(std::move(options))),
      halo_(communicator, comm_thread, sweeper),
      true_sums_(communicator, comm_thread, sweeper.team().thread_count(),
                 sweeper.tile_judge() ? 2 : 1) {}

IterationReport AsyncIteration::run(double b_norm) {
  if (options_.checkpoints && !options_.checkpoints->can_keep_asynchronously())
    throw comm_thread::InputError(
        "checkpoints of an asynchronous run need MPI_THREAD_MULTIPLE, which this MPI does not "
        "give; expected a synchronous run, or none");
  Run run(*this, b_norm);
  sweeper_.team().run([&run](const TeamThread& thread) { run.iterate(thread); });
  if (options_.checkpoints) run.collective_settle_checkpoints();
  return run.collective_report();
}

}  // namespace weft::solver
