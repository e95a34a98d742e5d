#include "solver/sweep/threaded_iteration.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>

#include "comm_thread/channels/landing.h"
#include "comm_thread/channels/slot_ring.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/waiting/team_barrier.h"
#include "perfmodel/marked_region.h"
#include "perfmodel/stopwatch.h"
#include "solver/report/histogram_count.h"
#include "solver/report/iteration_timer.h"
#include "solver/report/relative_residual.h"
#include "solver/report/stop_rule.h"
#include "solver/sweep/running_square.h"
#include "solver/sweep/team_sum.h"

namespace weft::solver {
namespace {

using comm_thread::Delivery;
using comm_thread::ExactAccumulator;
using comm_thread::HaloNeighbour;
using comm_thread::Landing;
using comm_thread::TeamThread;

ThreadedIteration::Options checked(ThreadedIteration::Options options) {
  comm_thread::expect_at_least("check period", options.check_period, 1);
  comm_thread::expect_at_least("contribution period", options.contribution_period, 1);
  comm_thread::expect_at_least("most iterations", options.max_iterations, 0);
  return options;
}

/// Two landings for one neighbour, and their writing ends. Without lock step the first is used.
struct Outbox {
  Outbox(Delivery delivery, std::size_t value_count)
      : memory(Landing::bytes(delivery, value_count), 2) {
    for (const std::uint64_t number : {1U, 2U}) {
      Landing::initialise(landing(number), delivery, value_count);
      writers.emplace_back(landing(number), delivery, value_count);
    }
  }
  std::byte* landing(std::uint64_t number) { return memory.slot(number).data(); }

  comm_thread::SlotRing memory;
  std::vector<Landing::Writer> writers;
};

/// Reading ends of the landings that one neighbour fills.
struct Inbox {
  std::vector<Landing::Reader> readers;
  std::int64_t newest = 0;  // the neighbour's sweep that was taken last
};

/// One thread: its sweeper, what it passes to neighbours, and what it has counted.
struct alignas(64) Worker {
  Worker(Sweeper& its_sweeper, Disturbance its_disturbance)
      : sweeper(its_sweeper), disturbance(std::move(its_disturbance)) {}

  void lap(double IterationTimes::* part) { timer.lap(alone, part); }

  Sweeper& sweeper;
  Disturbance disturbance;
  comm_thread::TeamBarrier barrier{1, comm_thread::WaitPolicy::yield};
  TeamThread alone{0, 1, &barrier};  // the sweeper's team
  std::deque<Outbox> outboxes;  // one for each neighbour, as the inboxes
  std::vector<Inbox> inboxes;
  std::int64_t sweep_count = 0;
  std::uint64_t published_count = 0;
  bool has_news = false;  // since it gave way last
  std::uint64_t fruitless_count = 0;  // sweeps in a row without
  IterationReport exchanged;  // staleness, batches, messages
  ThreadHistory history;
  IterationTimer timer;
};

/// Lets others have the core when sweeps bring nothing, because no neighbour has published since.
///
/// Threads that outnumber the cores would otherwise repeat themselves for whole time slices. It
/// begins after 16 such sweeps and is a yield, after 200 a nap of about 15 µs.
void give_way(Worker& mine) {
  const bool is_fruitful = std::exchange(mine.has_news, false) || mine.inboxes.empty();
  mine.fruitless_count = is_fruitful ? 0 : mine.fruitless_count + 1;
  if (is_fruitful) return;
  comm_thread::relax(comm_thread::WaitPolicy::yield, mine.fruitless_count);
  mine.lap(&IterationTimes::wait);
}

}  // namespace

/// State of one run. Threads share what is atomic and what a class below guards; the
/// rest is written by the primary thread between two barriers.
class ThreadedIteration::Run {
 public:
  Run(ThreadedIteration& whole, double b_norm);

  /// Thread: every thread of the team.
  void iterate(const TeamThread& thread);

  /// After `iterate`.
  ThreadedReport report() const;

 private:
  bool is_in_step() const { return options_.variant == Variant::sync; }
  Delivery delivery() const {
    return options_.variant == Variant::racy ? Delivery::racy : Delivery::async;
  }
  Worker& worker(const TeamThread& thread) {
    return workers_[static_cast<std::size_t>(thread.index)];
  }
  /// The landing for the values after so many sweeps.
  std::size_t landing_of(std::int64_t sweep_count) const {
    return is_in_step() && sweep_count % 2 != 0 ? 1 : 0;
  }
  void set_up(const TeamThread& thread);
  void open_inboxes(const TeamThread& thread);
  void take(Worker& mine) const;
  void make_sweep(Worker& mine, ExactAccumulator* residual_square) const;
  void finish_sweep(Worker& mine) const;
  void publish(Worker& mine) const;
  void sweep_in_step(const TeamThread& thread);
  void sweep_freely(const TeamThread& thread);
  void contribute(const TeamThread& thread, double square);
  void verify(const TeamThread& thread);
  void decide(bool gives_up);
  void ask(std::int64_t iteration);
  void keep_if_due(const TeamThread& thread);
  bool has_thread_at_its_limit() const;
  void add_exchanges(ThreadedReport& report) const;

  const Options& options_;
  const double b_norm_;
  const double threshold_;  // of the sum of the squares of b − A·x
  std::deque<Worker> workers_;  // [threads]
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

ThreadedIteration::Run::Run(ThreadedIteration& whole, double b_norm)
    : options_(whole.options_),
      b_norm_(b_norm),
      threshold_(std::pow(options_.tolerance * b_norm_, 2)),
      true_squares_(whole.team_.thread_count()),
      running_square_(whole.team_.thread_count(), threshold_) {
  for (Sweeper* const sweeper : whole.sweepers_)
    workers_.emplace_back(*sweeper,
                          Disturbance(options_.faults, static_cast<int>(workers_.size())));
  checks_.reserve(1024);
}

void ThreadedIteration::Run::iterate(const TeamThread& thread) {
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

void ThreadedIteration::Run::set_up(const TeamThread& thread) {
  Worker& mine = worker(thread);
  for (const HaloNeighbour& neighbour : mine.sweeper.neighbours())
    mine.outboxes.emplace_back(delivery(), static_cast<std::size_t>(neighbour.send_count));
  if (options_.checkpoints)
    mine.sweep_count =
        collective_restore(*options_.checkpoints, thread, *mine.sweeper.kept_state());
  publish(mine);
  thread.barrier();
  open_inboxes(thread);
  take(mine);
  mine.exchanged = {};
  if (thread.is_primary()) watch_ = {};
  thread.barrier();
  mine.timer.start();
  mine.timer.start_recording();
}

void ThreadedIteration::Run::open_inboxes(const TeamThread& thread) {
  Worker& mine = worker(thread);
  for (const HaloNeighbour& neighbour : mine.sweeper.neighbours()) {
    Worker& other = workers_[static_cast<std::size_t>(neighbour.rank)];
    const auto back =
        std::ranges::find(other.sweeper.neighbours(), thread.index, &HaloNeighbour::rank);
    Outbox& outbox =
        other.outboxes[static_cast<std::size_t>(back - other.sweeper.neighbours().begin())];
    Inbox& inbox = mine.inboxes.emplace_back();
    for (const std::uint64_t number : {1U, 2U})
      inbox.readers.emplace_back(outbox.landing(number), delivery(),
                                 static_cast<std::size_t>(neighbour.receive_count));
  }
}

/// Racy elements may be new where their label is not.
void ThreadedIteration::Run::take(Worker& mine) const {
  for (std::size_t i = 0; i < mine.inboxes.size(); ++i) {
    Inbox& inbox = mine.inboxes[i];
    const comm_thread::Received received = inbox.readers[landing_of(mine.sweep_count)].take();
    if (received.arrived_count > 0) {
      inbox.newest = static_cast<std::int64_t>(received.iteration);
      mine.has_news = true;
      mine.exchanged.received_count += received.arrived_count;
      count(mine.exchanged.batches, static_cast<std::int64_t>(received.arrived_count));
    }
    if (received.arrived_count > 0 || options_.variant == Variant::racy)
      mine.sweeper.unpack(mine.alone, SweepState::current, i, received.values);
  }
  mine.lap(&IterationTimes::pack);
}

void ThreadedIteration::Run::make_sweep(Worker& mine, ExactAccumulator* residual_square) const {
  const bool is_disturbed = mine.disturbance.is_active();
  const double cpu_before = is_disturbed ? thread_cpu_seconds() : 0;
  {
    const perfmodel::MarkedRegion region("sweep");
    mine.sweeper.sweep(mine.alone, SweepPart::all, residual_square);
    mine.lap(&IterationTimes::sweep);
  }
  for (const Inbox& inbox : mine.inboxes)
    count(mine.exchanged.staleness, mine.sweep_count - inbox.newest);
  if (!is_disturbed) return;
  mine.disturbance.after_sweep(thread_cpu_seconds() - cpu_before);
  mine.lap(&IterationTimes::injected);
}

/// The values made become the current ones, and go to the neighbours.
void ThreadedIteration::Run::finish_sweep(Worker& mine) const {
  mine.sweeper.finish_sweep();
  ++mine.sweep_count;
  publish(mine);
  mine.lap(&IterationTimes::pack);
}

void ThreadedIteration::Run::publish(Worker& mine) const {
  ++mine.published_count;
  for (std::size_t i = 0; i < mine.outboxes.size(); ++i) {
    Landing::Writer& writer = mine.outboxes[i].writers[landing_of(mine.sweep_count)];
    mine.sweeper.pack(mine.alone, SweepState::current, i, writer.buffer());
    writer.land(mine.published_count, static_cast<std::uint64_t>(mine.sweep_count));
  }
  mine.exchanged.sent_count += mine.outboxes.size();
}

/// The residual is computed in the pass that makes the next sweep, which is left out of the result
/// where the residual is small enough.
void ThreadedIteration::Run::sweep_in_step(const TeamThread& thread) {
  Worker& mine = worker(thread);
  for (;;) {
    const std::int64_t iteration = mine.sweep_count;
    const bool gives_up = iteration >= options_.max_iterations;
    const bool is_checked = iteration % options_.check_period == 0 || gives_up;
    if (thread.is_primary()) ask(iteration);
    make_sweep(mine, is_checked ? &true_squares_.part(thread.index) : nullptr);
    if (is_checked) {
      thread.barrier();
      if (thread.is_primary()) decide(gives_up);
      thread.barrier();
      keep_if_due(thread);
      mine.lap(&IterationTimes::reduction);
      if (has_ended_) return;
    }
    finish_sweep(mine);
    thread.barrier();
    mine.lap(&IterationTimes::wait);
    take(mine);
  }
}

/// At least one sweep, so that every thread moves on between two verifications.
void ThreadedIteration::Run::sweep_freely(const TeamThread& thread) {
  Worker& mine = worker(thread);
  ExactAccumulator own_square;
  int sweeps_to_contribution = options_.contribution_period;
  do {
    const bool contributes = --sweeps_to_contribution == 0;
    take(mine);
    make_sweep(mine, contributes ? &own_square : nullptr);
    finish_sweep(mine);
    if (contributes) {
      contribute(thread, own_square.rounded());
      own_square.clear();
      sweeps_to_contribution = options_.contribution_period;
      mine.lap(&IterationTimes::reduction);
    }
    if (thread.is_primary()) ask(mine.sweep_count);
    if (mine.sweep_count >= options_.max_iterations ||
        (thread.is_primary() && wish_ != Checkpoints::Wish::none))
      is_suspected_.store(true, std::memory_order_relaxed);
    give_way(mine);
  } while (!is_suspected_.load(std::memory_order_relaxed));
  mine.history.stopped_seconds = watch_.seconds();
  mine.history.sweep_count = static_cast<std::uint64_t>(mine.sweep_count);
}

void ThreadedIteration::Run::contribute(const TeamThread& thread, double square) {
  Worker& mine = worker(thread);
  mine.history.squares.record(watch_.seconds(), square,
                              static_cast<std::uint64_t>(mine.sweep_count));
  const bool is_small = running_square_.contribute(thread.index, square);
  if (is_small || !std::isfinite(square)) is_suspected_.store(true, std::memory_order_relaxed);
}

/// Leaves the true parts in the running sum. No sweep is left unfinished at the first barrier, so
/// what is taken then are the neighbours' current values.
void ThreadedIteration::Run::verify(const TeamThread& thread) {
  Worker& mine = worker(thread);
  thread.barrier();
  mine.lap(&IterationTimes::wait);
  take(mine);
  ExactAccumulator& part = true_squares_.part(thread.index);
  mine.sweeper.add_residual(mine.alone, SweepState::current, part);
  contribute(thread, part.rounded());
  thread.barrier();
  if (thread.is_primary()) {
    decide(has_thread_at_its_limit());
    is_suspected_.store(false, std::memory_order_relaxed);
  }
  thread.barrier();
  keep_if_due(thread);
  mine.lap(&IterationTimes::reduction);
}

bool ThreadedIteration::Run::has_thread_at_its_limit() const {
  return std::ranges::any_of(
      workers_, [this](const Worker& each) { return each.sweep_count >= options_.max_iterations; });
}

/// Thread: the primary one, while the others wait.
void ThreadedIteration::Run::decide(bool gives_up) {
  residual_ = relative_residual(true_squares_.collect(), b_norm_);
  end_seconds_ = watch_.seconds();
  if (is_in_step()) checks_.push_back({end_seconds_, residual_});
  status_ = StopRule({.tolerance = options_.tolerance}, 1).status_at(residual_);
  const bool stops = wish_ == Checkpoints::Wish::keep_and_stop;
  is_keeping_ = options_.checkpoints && status_ == SolveStatus::not_converged &&
                (gives_up || wish_ != Checkpoints::Wish::none);
  wish_ = Checkpoints::Wish::none;
  if (stops && status_ == SolveStatus::not_converged) status_ = SolveStatus::stopped;
  has_ended_ = gives_up || status_ != SolveStatus::not_converged;
}

/// Thread: the primary one.
void ThreadedIteration::Run::ask(std::int64_t iteration) {
  if (!options_.checkpoints) return;
  const Checkpoints::Wish wish = options_.checkpoints->after_sweep(iteration);
  if (wish != Checkpoints::Wish::none && wish_ != Checkpoints::Wish::keep_and_stop) wish_ = wish;
}

void ThreadedIteration::Run::keep_if_due(const TeamThread& thread) {
  Worker& mine = worker(thread);
  if (is_keeping_)
    collective_keep(*options_.checkpoints, thread, mine.sweep_count, *mine.sweeper.kept_state());
}

void ThreadedIteration::Run::add_exchanges(ThreadedReport& report) const {
  IterationReport& all = report.whole;
  std::vector<ThreadHistory> histories;
  for (const Worker& each : workers_) {
    for (const auto& [value, count] : each.exchanged.staleness) all.staleness[value] += count;
    for (const auto& [value, count] : each.exchanged.batches) all.batches[value] += count;
    all.sent_count += each.exchanged.sent_count;
    all.received_count += each.exchanged.received_count;
    histories.push_back(each.history);
  }
  all.history = residual_history(histories, end_seconds_, residual_, b_norm_);
  all.detection = detection_report(histories, threshold_);
  all.detection->has_converged = status_ == SolveStatus::converged;
  all.detection->fired_count = fired_count_;
  all.detection->failed_verification_count =
      fired_count_ - (fired_count_ > 0 && all.detection->has_converged ? 1 : 0);
}

ThreadedReport ThreadedIteration::Run::report() const {
  ThreadedReport report;
  IterationReport& all = report.whole;
  for (const Worker& each : workers_) {
    report.iterations.push_back(each.sweep_count);
    report.times.push_back(each.timer.times());
  }
  all.status = status_;
  if (status_ == SolveStatus::breakdown)
    all.explanation = "the residual is not finite: the system is out of the range of double";
  all.iterations = *std::ranges::max_element(report.iterations);
  all.relative_residual = residual_;
  all.seconds = end_seconds_;
  all.times = report.times.front();
  if (is_in_step())
    all.history = checks_;
  else
    add_exchanges(report);
  return report;
}

ThreadedIteration::ThreadedIteration(const comm_thread::ComputeTeam& team,
                                     std::span<Sweeper* const> sweepers, Options options)
    : team_(team),
      sweepers_(sweepers.begin(), sweepers.end()),
      options_(checked(std::move(options))) {}

ThreadedReport ThreadedIteration::run(double b_norm) {
  Run run(*this, b_norm);
  team_.run([&run](const TeamThread& thread) { run.iterate(thread); });
  return run.report();
}

}  // namespace weft::solver
