#include "solver/threads/jacobi.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/channels/landing.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/mpi/input_error.h"
#include "perfmodel/stopwatch.h"
#include "solver/report/relative_residual.h"
#include "solver/sweep/kept_grid.h"
#include "solver/sweep/team_sum.h"
#include "solver/threads/plane_boundaries.h"
#include "solver/threads/plane_worker.h"
#include "solver/threads/running_square.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;

ThreadedJacobi::Options checked(ThreadedJacobi::Options options) {
  comm_thread::expect_at_least("check period", options.check_period, 1);
  comm_thread::expect_at_least("contribution period", options.contribution_period, 1);
  comm_thread::expect_at_least("most iterations", options.max_iterations, 0);
  return options;
}

void check_plane_count(GlobalIndex plane_count, int thread_count) {
  if (plane_count < thread_count)
    throw comm_thread::InputError(
        fmt::format("compute threads: found {} for a grid of {} planes in z; expected at most one "
                    "thread a plane",
                    thread_count, plane_count));
}

double square(double x) { return x * x; }

double source_norm(const spmv::DiffusionProblem& problem) {
  const auto [x, y, z] = problem.grid;
  return std::sqrt(problem.source_square({{0, 0, 0}, {x, y, z}}));
}

}  // namespace

/// State of one run. Threads share what is atomic and what a class below guards; the
/// rest is written by the primary thread between two barriers.
class ThreadedJacobi::Run {
 public:
  explicit Run(ThreadedJacobi& jacobi);

  /// Thread: every thread of the team.
  void iterate(const TeamThread& thread);

  /// After `iterate`.
  ThreadedReport report() const;

 private:
  bool is_in_step() const { return options_.variant == Variant::sync; }
  comm_thread::Delivery delivery() const {
    return options_.variant == Variant::racy ? comm_thread::Delivery::racy
                                             : comm_thread::Delivery::async;
  }
  void set_up(const TeamThread& thread);
  void sweep_in_step(const TeamThread& thread);
  void copy_ghosts(const TeamThread& thread);
  void sweep_freely(const TeamThread& thread);
  void contribute(int thread, std::uint64_t sweep_count, double square);
  void verify(const TeamThread& thread);
  void decide(bool gives_up);
  void ask(std::int64_t iteration);
  void keep_if_due(const TeamThread& thread);
  bool has_thread_at_its_limit() const;
  void add_exchanges(ThreadedReport& report) const;

  PlaneWorker& worker(const TeamThread& thread) { return workers_[of(thread.index)]; }
  static std::size_t of(int thread) { return static_cast<std::size_t>(thread); }
  double seconds() const { return watch_.seconds(); }

  ThreadedJacobi& whole_;
  const Options& options_;
  const double b_norm_;
  const double threshold_;  // of the sum of the squares of b − A·x
  PlaneBoundaries boundaries_;  // none in a synchronous run
  std::deque<PlaneWorker> workers_;  // [threads]
  std::vector<ThreadHistory> histories_;  // [threads], each its thread's
  TeamSum true_squares_;
  RunningSquare running_square_;
  alignas(64) std::atomic<bool> is_suspected_{false};

  alignas(64) perfmodel::Stopwatch watch_;
  bool has_ended_ = false;
  Checkpoints::Wish wish_ = Checkpoints::Wish::none;  // the primary thread's
  bool is_keeping_ = false;
  std::uint64_t fired_count_ = 0;  // times that sweeping ended in a verification
  SolveStatus status_ = SolveStatus::not_converged;
  double residual_ = 0;  // the last true one
  double end_seconds_ = 0;
  std::vector<HistoryPoint> checks_;  // of a synchronous run
};

ThreadedJacobi::Run::Run(ThreadedJacobi& jacobi)
    : whole_(jacobi),
      options_(jacobi.options_),
      b_norm_(source_norm(jacobi.problem_)),
      threshold_(square(options_.tolerance * b_norm_)),
      boundaries_(delivery(), is_in_step() ? 0 : jacobi.team_.thread_count(),
                  static_cast<std::size_t>(jacobi.problem_.grid.x),
                  static_cast<std::size_t>(jacobi.problem_.grid.y)),
      histories_(jacobi.blocks_.size()),
      true_squares_(jacobi.team_.thread_count()),
      running_square_(jacobi.team_.thread_count(), threshold_) {
  for (int i = 0; i < jacobi.team_.thread_count(); ++i)
    workers_.emplace_back(jacobi.blocks_[of(i)], boundaries_.links_of(i),
                          Disturbance(options_.faults, i));
  checks_.reserve(1024);
}

void ThreadedJacobi::Run::iterate(const TeamThread& thread) {
  set_up(thread);
  if (is_in_step()) return sweep_in_step(thread);
  verify(thread);
  try {
    while (!has_ended_) {
      sweep_freely(thread);
      const bool is_asked = thread.is_primary() && wish_ != Checkpoints::Wish::none;
      verify(thread);
      if (thread.is_primary() && !is_asked) ++fired_count_;
    }
  } catch (...) {
    // The others would not come to a barrier otherwise.
    is_suspected_.store(true, std::memory_order_relaxed);
    throw;
  }
}

void ThreadedJacobi::Run::set_up(const TeamThread& thread) {
  PlaneBlock& block = whole_.blocks_[of(thread.index)];
  block.set_up();
  std::int64_t sweep_count = 0;
  if (options_.checkpoints && options_.checkpoints->has_state()) {
    sweep_count = options_.checkpoints->state_iteration();
    options_.checkpoints->collective_restore_by(
        thread, {}, [&](const PackedRows& rows, std::size_t, const double* packed) {
          block.load(thread, rows, packed);
        });
  }
  worker(thread).begin(sweep_count);
  thread.barrier();
  copy_ghosts(thread);
  if (thread.is_primary()) watch_ = {};
  thread.barrier();
  worker(thread).start_clock();
}

/// The residual is computed in the pass that makes the next sweep, which is left out of the result
/// where the residual is small enough.
void ThreadedJacobi::Run::sweep_in_step(const TeamThread& thread) {
  PlaneWorker& mine = worker(thread);
  for (;;) {
    const std::int64_t iteration = mine.sweep_count();
    const bool gives_up = iteration >= options_.max_iterations;
    const bool is_checked = iteration % options_.check_period == 0 || gives_up;
    mine.make_sweep(is_checked ? &true_squares_.part(thread.index) : nullptr);
    thread.barrier();
    mine.lap(&IterationTimes::wait);
    if (thread.is_primary()) ask(iteration);
    if (is_checked) {
      if (thread.is_primary()) decide(gives_up);
      thread.barrier();
      keep_if_due(thread);
      mine.lap(&IterationTimes::reduction);
      if (has_ended_) return;
    }
    mine.finish_sweep();
    copy_ghosts(thread);
    mine.lap(&IterationTimes::pack);
  }
}

void ThreadedJacobi::Run::copy_ghosts(const TeamThread& thread) {
  PlaneBlock& mine = whole_.blocks_[of(thread.index)];
  if (thread.index > 0) mine.copy_ghosts(Side::below, whole_.blocks_[of(thread.index - 1)]);
  if (thread.index + 1 < thread.count)
    mine.copy_ghosts(Side::above, whole_.blocks_[of(thread.index + 1)]);
}

/// At least one sweep, so that every thread moves on between two verifications.
void ThreadedJacobi::Run::sweep_freely(const TeamThread& thread) {
  PlaneWorker& mine = worker(thread);
  comm_thread::ExactAccumulator own_square;
  int sweeps_to_contribution = options_.contribution_period;
  do {
    const bool contributes = --sweeps_to_contribution == 0;
    mine.make_sweep(contributes ? &own_square : nullptr);
    mine.finish_sweep();
    if (contributes) {
      contribute(thread.index, static_cast<std::uint64_t>(mine.sweep_count()),
                 own_square.rounded());
      own_square.clear();
      sweeps_to_contribution = options_.contribution_period;
      mine.lap(&IterationTimes::reduction);
    }
    if (thread.is_primary()) ask(mine.sweep_count());
    if (mine.sweep_count() >= options_.max_iterations ||
        (thread.is_primary() && wish_ != Checkpoints::Wish::none))
      is_suspected_.store(true, std::memory_order_relaxed);
    mine.give_way();
  } while (!is_suspected_.load(std::memory_order_relaxed));
  histories_[of(thread.index)].stopped_seconds = seconds();
}

void ThreadedJacobi::Run::contribute(int thread, std::uint64_t sweep_count, double square) {
  histories_[of(thread)].squares.record(seconds(), square, sweep_count);
  const bool is_small = running_square_.contribute(thread, square);
  if (is_small || !std::isfinite(square)) is_suspected_.store(true, std::memory_order_relaxed);
}

/// Leaves the true parts in the running sum.
void ThreadedJacobi::Run::verify(const TeamThread& thread) {
  PlaneWorker& mine = worker(thread);
  thread.barrier();
  mine.lap(&IterationTimes::wait);
  mine.take_planes();
  comm_thread::ExactAccumulator& part = true_squares_.part(thread.index);
  mine.block().add_residual(part);
  contribute(thread.index, static_cast<std::uint64_t>(mine.sweep_count()), part.rounded());
  thread.barrier();
  if (thread.is_primary()) {
    decide(has_thread_at_its_limit());
    is_suspected_.store(false, std::memory_order_relaxed);
  }
  thread.barrier();
  keep_if_due(thread);
  mine.lap(&IterationTimes::reduction);
}

bool ThreadedJacobi::Run::has_thread_at_its_limit() const {
  return std::any_of(workers_.begin(), workers_.end(), [this](const PlaneWorker& each) {
    return each.sweep_count() >= options_.max_iterations;
  });
}

/// Thread: the primary one, while the others wait.
void ThreadedJacobi::Run::decide(bool gives_up) {
  residual_ = relative_residual(true_squares_.collect(), b_norm_);
  end_seconds_ = seconds();
  if (is_in_step()) checks_.push_back({end_seconds_, residual_});
  if (!std::isfinite(residual_))
    status_ = SolveStatus::breakdown;
  else if (residual_ < options_.tolerance || residual_ == 0)
    status_ = SolveStatus::converged;
  const bool stops = wish_ == Checkpoints::Wish::keep_and_stop;
  is_keeping_ = options_.checkpoints && status_ == SolveStatus::not_converged &&
                (gives_up || wish_ != Checkpoints::Wish::none);
  wish_ = Checkpoints::Wish::none;
  if (stops && status_ == SolveStatus::not_converged) status_ = SolveStatus::stopped;
  has_ended_ = gives_up || status_ != SolveStatus::not_converged;
}

/// Thread: the primary one.
void ThreadedJacobi::Run::ask(std::int64_t iteration) {
  if (!options_.checkpoints) return;
  const Checkpoints::Wish wish = options_.checkpoints->after_sweep(iteration);
  if (wish != Checkpoints::Wish::none && wish_ != Checkpoints::Wish::keep_and_stop) wish_ = wish;
}

void ThreadedJacobi::Run::keep_if_due(const TeamThread& thread) {
  if (!is_keeping_) return;
  options_.checkpoints->collective_keep_by(
      thread, worker(thread).sweep_count(), {},
      [&](const PackedRows& rows, std::size_t, double* packed) {
        worker(thread).block().save(thread, rows, packed);
      });
  thread.barrier();
}

void ThreadedJacobi::Run::add_exchanges(ThreadedReport& report) const {
  IterationReport& all = report.whole;
  for (const PlaneWorker& each : workers_) {
    const PlaneWorker::Traffic& traffic = each.traffic();
    for (const auto& [value, count] : traffic.staleness) all.staleness[value] += count;
    for (const auto& [value, count] : traffic.batches) all.batches[value] += count;
    all.sent_count += traffic.sent_count;
    all.received_count += traffic.received_count;
  }
  all.history = residual_history(histories_, end_seconds_, residual_, b_norm_);
  all.detection = detection_report(histories_, threshold_);
  all.detection->has_converged = status_ == SolveStatus::converged;
  all.detection->fired_count = fired_count_;
  all.detection->failed_verification_count =
      fired_count_ - (fired_count_ > 0 && all.detection->has_converged ? 1 : 0);
}

ThreadedReport ThreadedJacobi::Run::report() const {
  ThreadedReport report;
  IterationReport& all = report.whole;
  for (const PlaneWorker& each : workers_) {
    report.iterations.push_back(each.sweep_count());
    report.times.push_back(each.times());
  }
  all.status = status_;
  if (status_ == SolveStatus::breakdown)
    all.explanation = "the residual is not finite: the system is out of the range of double";
  all.iterations = *std::max_element(report.iterations.begin(), report.iterations.end());
  all.relative_residual = residual_;
  all.seconds = end_seconds_;
  all.times = report.times.front();
  if (is_in_step())
    all.history = checks_;
  else
    add_exchanges(report);
  return report;
}

ThreadedJacobi::ThreadedJacobi(const comm_thread::ComputeTeam& team,
                               const spmv::DiffusionProblem& problem, Options options)
    : team_(team), problem_(problem), options_(checked(std::move(options))) {
  const int thread_count = team.thread_count();
  check_plane_count(problem_.grid.z, thread_count);
  blocks_.reserve(static_cast<std::size_t>(thread_count));
  for (int i = 0; i < thread_count; ++i)
    blocks_.emplace_back(problem_, comm_thread::share_of(problem_.grid.z, i, thread_count));
}

PackedRows ThreadedJacobi::rows() const {
  const auto [x, y, z] = problem_.grid;
  std::vector<std::vector<PackedRows::Piece>> pieces;
  for (const PlaneBlock& block : blocks_)
    pieces.push_back(std::move(pieces_of(block.layout(), {{0, 0, 0}, {x, y, z}}, 1).front()));
  return {pieces, x * y * z};
}

ThreadedReport ThreadedJacobi::run() {
  Run run(*this);
  team_.run([&run](const TeamThread& thread) { run.iterate(thread); });
  return run.report();
}

double ThreadedJacobi::value(GlobalIndex x, GlobalIndex y, GlobalIndex z) const {
  const auto owner = std::find_if(blocks_.begin(), blocks_.end(),
                                  [z](const PlaneBlock& block) { return z < block.planes().end; });
  return owner->value(x, y, z);
}

}  // namespace weft::solver
