#include "solver/simulation/sweep_simulation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/channels/landing.h"
#include "comm_thread/channels/transport.h"
#include "comm_thread/simulation/simulated_network.h"
#include "comm_thread/simulation/simulated_transport.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/simulation/event_queue.h"
#include "solver/simulation/machine_model.h"
#include "solver/simulation/simulated_part.h"

namespace weft::solver {
namespace {

using comm_thread::SweepAction;

void fetch_lines(const std::byte* begin, const std::byte* end) {
  constexpr std::ptrdiff_t line_bytes = 64;
  for (; begin < end; begin += line_bytes) __builtin_prefetch(begin);
}

/// One run. What is called "rank" here is simulated.
class SweepRun {
 public:
  SweepRun(const SweepRunOptions& options, const SweepCase& what);

  SweepSimulationResult run();

 private:
  bool is_sync() const { return options_.variant == SimulatedVariant::sync; }
  void make_parts();

  void due(int rank, double seconds);
  void push_step(int rank, double seconds) {
    events_.push({seconds, static_cast<std::uint32_t>(rank), EventQueue::Kind::step});
  }
  double compute_seconds(int rank, const SimulatedPart& part) const;

  void step_async(int rank);
  void go_on_async(int rank);
  void begin_sync(int rank);
  void finish_halo(int rank, double arrived);
  void step_sync(int rank);
  /// The rank waits for all others; the last one takes them on.
  void meet(int rank);
  void verify_together();
  void leave_verification(int rank);
  void refresh_halos();
  double true_value();

  void fetch_ahead() const;
  void close();
  SweepSimulationResult collect();

  SweepRunOptions options_;
  SweepCase what_;
  MachineModel model_;
  comm_thread::SimulatedNetwork network_;
  SimulatedWorld world_;
  std::vector<std::unique_ptr<SimulatedPart>> parts_;
  std::vector<SimulatedPart::Place> places_;  // of their memory
  std::vector<double> sweep_begin_;  // of synchronous ranks
  EventQueue events_;
  double value_seconds_;  // to pack or unpack one value

  std::vector<bool> has_begun_;
  std::vector<bool> is_meeting_;
  int meeting_count_ = 0;
  bool is_verified_ = false;  // all ranks have met, and leave one after the other
  double true_value_ = 0;  // of all contributions
  int ended_count_ = 0;
  bool has_converged_ = false;
  double end_seconds_ = 0;
  double waited_ = 0;  // by all ranks
  std::uint64_t verification_count_ = 0;
  std::uint64_t event_count_ = 0;
};

SweepRun::SweepRun(const SweepRunOptions& options, const SweepCase& what)
    : options_(options),
      what_(what),
      model_(options.machine, options.rank_count, options.seed),
      network_(options.rank_count, model_),
      world_{options_, network_, what.threshold},
      value_seconds_(what.charged_values * sizeof(double) * options.machine.overhead_per_byte),
      has_begun_(static_cast<std::size_t>(options.rank_count)),
      is_meeting_(static_cast<std::size_t>(options.rank_count)) {
  model_.charge_payload(what.charged_values, sizeof(comm_thread::MessageHeader), 0);
  make_parts();
  network_.on_due([this](int rank, double seconds) { due(rank, seconds); });
}

void SweepRun::make_parts() {
  for (int rank = 0; rank < options_.rank_count; ++rank) {
    parts_.push_back(std::make_unique<SimulatedPart>(world_, rank, what_.make_values(rank)));
    if (is_sync())
      parts_.back()->open_exchange();
    else
      parts_.back()->open_channels(options_.variant == SimulatedVariant::racy
                                       ? comm_thread::Delivery::racy
                                       : comm_thread::Delivery::async);
  }
  if (is_sync()) sweep_begin_.resize(parts_.size());
  perfmodel::prefer_huge_pages(parts_.front().get(), parts_.back().get());
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
    const std::size_t next = std::min(rank + 1, parts_.size() - 1);
    places_.push_back(parts_[rank]->place(reinterpret_cast<const std::byte*>(parts_[next].get())));
  }
}

void SweepRun::due(int rank, double seconds) {
  if (is_sync())
    finish_halo(rank, seconds);
  else
    events_.push({seconds, static_cast<std::uint32_t>(rank), EventQueue::Kind::poll});
}

/// Of the sweep that comes next, with what a shared core does for the messages.
double SweepRun::compute_seconds(int rank, const SimulatedPart& part) const {
  const bool shares_core = options_.machine.poll_interval > 0;
  const double messages =
      shares_core ? 2 * static_cast<double>(part.neighbour_count()) * options_.machine.overhead : 0;
  return messages + static_cast<double>(part.moved_values()) * value_seconds_ +
         model_.sweep_seconds(rank, static_cast<std::uint64_t>(part.sweep_count()),
                              what_.charged_points);
}

void SweepRun::step_async(int rank) {
  const auto r = static_cast<std::size_t>(rank);
  SimulatedPart& part = *parts_[r];
  part.poll_once();
  if (is_verified_ && is_meeting_[r]) return leave_verification(rank);
  if (has_begun_[r]) {
    const SweepAction action = part.after_sweep();
    if (action == SweepAction::record_snapshot) part.record_snapshot();
    if (action == SweepAction::evaluate_snapshot) part.evaluate_snapshot();
    if (action == SweepAction::verify) return meet(rank);
  }
  go_on_async(rank);
}

void SweepRun::go_on_async(int rank) {
  const auto r = static_cast<std::size_t>(rank);
  SimulatedPart& part = *parts_[r];
  part.exchange();
  part.poll();
  const double seconds = compute_seconds(rank, part);
  part.sweep();
  has_begun_[r] = true;
  push_step(rank, network_.now() + seconds);
}

void SweepRun::begin_sync(int rank) {
  SimulatedPart& part = *parts_[static_cast<std::size_t>(rank)];
  sweep_begin_[static_cast<std::size_t>(rank)] = network_.now();
  part.post_halo();
  if (part.neighbour_count() == 0) finish_halo(rank, network_.now());
}

/// Once this rank has begun its sweep and all halos of it are under way, the sweep's end is known.
void SweepRun::finish_halo(int rank, double arrived) {
  const double begin = sweep_begin_[static_cast<std::size_t>(rank)];
  const SimulatedPart& part = *parts_[static_cast<std::size_t>(rank)];
  const double computing = compute_seconds(rank, part);
  const double interior = options_.overlaps ? computing * what_.interior_fraction : 0;
  const double boundary_begin = std::max(begin + interior, arrived);
  waited_ += boundary_begin - begin - interior;
  push_step(rank, boundary_begin + computing - interior);
}

void SweepRun::step_sync(int rank) {
  const auto r = static_cast<std::size_t>(rank);
  SimulatedPart& part = *parts_[r];
  if (!has_begun_[r]) {
    has_begun_[r] = true;
    return begin_sync(rank);
  }
  if (is_verified_ && is_meeting_[r]) return leave_verification(rank);
  part.take_halo();
  const bool contributes = part.sweep();
  if (contributes || part.sweep_count() >= options_.max_sweeps) return meet(rank);
  begin_sync(rank);
}

void SweepRun::meet(int rank) {
  is_meeting_[static_cast<std::size_t>(rank)] = true;
  if (!is_sync()) waited_ -= network_.now();
  if (++meeting_count_ == options_.rank_count) verify_together();
}

/// Fresh halos, the true residual and its sum over the ranks: then all leave.
void SweepRun::verify_together() {
  true_value_ = true_value();
  ++verification_count_;
  is_verified_ = true;
  double until = network_.now();
  if (!is_sync()) {
    const comm_thread::SimulatedRoute far{0, options_.rank_count - 1, 0};
    until = model_.arrival(far, what_.largest_message * sizeof(double), until) +
            options_.machine.seconds_per_sweep +
            what_.charged_points * options_.machine.seconds_per_point;
  }
  until = model_.reduction(options_.rank_count, until);
  for (int rank = 0; rank < options_.rank_count; ++rank) push_step(rank, until);
}

void SweepRun::refresh_halos() {
  for (const auto& part : parts_)
    for (std::size_t i = 0; i < part->neighbour_count(); ++i)
      part->copy_to(i, *parts_[static_cast<std::size_t>(part->neighbours()[i].rank)]);
}

double SweepRun::true_value() {
  double sum = 0;
  if (is_sync()) {  // of the values before the last sweep, which had fresh halos
    for (const auto& part : parts_) sum += part->contribution();
    return sum;
  }
  refresh_halos();
  for (const auto& part : parts_) sum += part->values().contribution(SweepState::current);
  return sum;
}

void SweepRun::leave_verification(int rank) {
  const auto r = static_cast<std::size_t>(rank);
  SimulatedPart& part = *parts_[r];
  is_meeting_[r] = false;
  if (--meeting_count_ == 0) is_verified_ = false;
  bool has_ended = false;
  if (is_sync()) {
    has_converged_ = true_value_ <= world_.threshold;
    has_ended = has_converged_ || part.sweep_count() >= options_.max_sweeps;
  } else {
    waited_ += network_.now();
    has_ended = part.termination().verified(true_value_);
    has_converged_ = part.termination().has_converged();
    part.want_contribution();
  }
  if (has_ended) {
    ++ended_count_;
    end_seconds_ = std::max(end_seconds_, network_.now());
    part.poll();
  } else if (is_sync()) {
    begin_sync(rank);
  } else {
    go_on_async(rank);
  }
}

/// Fetches the memory of the ranks whose turn comes soon. With thousands of ranks, all memory of a
/// rank has left the caches when its turn comes, and waiting for it line by line takes most of a
/// simulation.
void SweepRun::fetch_ahead() const {
  constexpr std::array<std::size_t, 3> stages{7, 4, 2};  // events ahead
  const auto step = [this](std::size_t ahead) -> const SimulatedPart::Place* {
    const EventQueue::Event* const event = events_.upcoming(ahead);
    return event && event->kind == EventQueue::Kind::step ? &places_[event->rank] : nullptr;
  };
  if (const EventQueue::Event* const event = events_.upcoming(stages[0])) {
    const SimulatedPart::Place& place = places_[event->rank];
    if (event->kind == EventQueue::Kind::step) {
      fetch_lines(place.part, place.end);
      constexpr std::ptrdiff_t object_bytes = 256;  // with what it has allocated first
      fetch_lines(place.values_object, place.values_object + object_bytes);
      fetch_lines(place.values.data(), place.values.data() + place.values.size());
    } else {
      fetch_lines(place.part, place.part + 1);
      fetch_lines(place.comm_thread, place.comm_thread + sizeof(comm_thread::CommThread));
      // What lies behind belongs to snapshots, and to the report that a simulation does without.
      constexpr std::ptrdiff_t polled_bytes = 3584;
      fetch_lines(place.detector, std::min(place.end, place.detector + polled_bytes));
    }
  }
  if (const EventQueue::Event* const event = events_.upcoming(stages[1]))
    network_.prefetch_receives(static_cast<int>(event->rank));
  if (const SimulatedPart::Place* const place = step(stages[1]); place && place->transport)
    place->transport->prefetch_wires();
  if (const SimulatedPart::Place* const place = step(stages[2]); place && place->transport)
    place->transport->prefetch_messages();
}

SweepSimulationResult SweepRun::run() {
  for (int rank = 0; rank < options_.rank_count; ++rank) push_step(rank, 0);
  while (!events_.is_empty()) {
    const EventQueue::Event event = events_.next();
    events_.pop();
    fetch_ahead();
    ++event_count_;
    network_.set_now(event.seconds);
    const auto rank = static_cast<int>(event.rank);
    if (event.kind == EventQueue::Kind::poll)
      parts_[event.rank]->poll_schedules();
    else if (is_sync())
      step_sync(rank);
    else
      step_async(rank);
  }
  close();
  return collect();
}

/// What is in flight arrives; then nothing may be left.
void SweepRun::close() {
  for (const auto& part : parts_) part->begin_close();
  const auto is_drained = [](const auto& part) { return part->is_drained(); };
  constexpr double long_after = 1e3;
  constexpr int most_rounds = 100;
  for (int round = 0; round < most_rounds && !std::ranges::all_of(parts_, is_drained); ++round) {
    network_.set_now(network_.now() + long_after);
    for (const auto& part : parts_) part->poll();
  }
  for (const auto& part : parts_) part->end_close();
  if (const std::size_t count = network_.in_flight(); count > 0)
    throw std::logic_error(fmt::format("simulation: {} messages are left in flight", count));
}

SweepSimulationResult SweepRun::collect() {
  SweepSimulationResult result;
  result.has_converged = has_converged_;
  result.seconds = end_seconds_;
  refresh_halos();
  double residual_square = 0;
  for (const auto& part : parts_) residual_square += part->values().residual_square();
  result.relative_residual = std::sqrt(residual_square) / what_.source_norm;
  result.verification_count = is_sync() ? 1 : verification_count_;
  result.event_count = event_count_;
  SimulatedPart::Traffic total;
  std::int64_t sweep_sum = 0;
  result.least_sweeps = parts_.front()->sweep_count();
  for (int rank = 0; rank < options_.rank_count; ++rank) {
    SimulatedPart& part = *parts_[static_cast<std::size_t>(rank)];
    const std::int64_t sweeps = part.sweep_count();
    sweep_sum += sweeps;
    result.least_sweeps = std::min(result.least_sweeps, sweeps);
    result.most_sweeps = std::max(result.most_sweeps, sweeps);
    result.slowest.push_back({rank, sweeps});
    total.sent_count += part.traffic().sent_count;
    total.skipped_count += part.traffic().skipped_count;
    total.used_count += part.traffic().used_count;
    total.staleness_sum += part.traffic().staleness_sum;
    const std::uint64_t seen =
        static_cast<std::uint64_t>(sweeps) ^ std::bit_cast<std::uint64_t>(part.values().sample());
    result.hash = (std::rotl(result.hash, 5) ^ seen) * 0x9e3779b97f4a7c15U;
  }
  result.hash ^= std::bit_cast<std::uint64_t>(result.seconds);
  const auto by_sweeps = [](const SimulatedRankSpeed& a, const SimulatedRankSpeed& b) {
    return a.sweeps != b.sweeps ? a.sweeps < b.sweeps : a.rank < b.rank;
  };
  constexpr std::size_t shown = 10;
  const std::size_t kept = std::min(shown, result.slowest.size());
  std::ranges::partial_sort(result.slowest,
                            result.slowest.begin() + static_cast<std::ptrdiff_t>(kept), by_sweeps);
  result.slowest.resize(kept);
  const auto rank_count = static_cast<double>(options_.rank_count);
  result.mean_sweeps = static_cast<double>(sweep_sum) / rank_count;
  result.message_count = total.sent_count;
  result.skipped_count = total.skipped_count;
  if (total.used_count > 0)
    result.mean_staleness =
        static_cast<double>(total.staleness_sum) / static_cast<double>(total.used_count);
  if (end_seconds_ > 0) result.waiting_fraction = waited_ / (end_seconds_ * rank_count);
  return result;
}

}  // namespace

SweepSimulationResult simulate_sweeps(const SweepRunOptions& options, const SweepCase& what) {
  check(options);
  return SweepRun(options, what).run();
}

}  // namespace weft::solver
