#include "solver/simulation/sweep_simulation.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/channels/landing.h"
#include "comm_thread/channels/transport.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/simulation/network_group.h"
#include "comm_thread/simulation/simulated_network.h"
#include "comm_thread/simulation/simulated_transport.h"
#include "comm_thread/waiting/team_barrier.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/simulation/event_queue.h"
#include "solver/simulation/machine_model.h"
#include "solver/simulation/simulated_part.h"
#include "solver/simulation/sweep_threads.h"
#include "solver/simulation/tree_reduction.h"

namespace weft::solver {
namespace {

using comm_thread::RankRange;
using comm_thread::SweepAction;

void fetch_lines(const std::byte* begin, const std::byte* end) {
  constexpr std::ptrdiff_t line_bytes = 64;
  for (; begin < end; begin += line_bytes) __builtin_prefetch(begin);
}

/// A rank that waits for a halo or a sum polls all the time.
Machine machine_of_run(const SweepRunOptions& options) {
  Machine machine = options.machine;
  if (options.variant == SimulatedVariant::sync) machine.poll_interval = 0;
  return machine;
}

/// One run. What is called "rank" here is simulated.
class SweepRun {
 public:
  SweepRun(const SweepRunOptions& options, const SweepCase& what);

  SweepSimulationResult run();

 private:
  /// The ranks of one thread, and what happens next on them.
  struct alignas(64) Lane {
    Lane(const SweepRunOptions& options, comm_thread::SimulatedNetwork& its_network,
         double threshold)
        : network(its_network), world{options, its_network, threshold} {}

    double next_seconds() const {
      return events.is_empty() ? std::numeric_limits<double>::infinity() : events.next().seconds;
    }
    void push_step(int rank, double seconds) {
      events.push({seconds, static_cast<std::uint32_t>(rank), EventQueue::Kind::step});
    }

    std::size_t index = 0;
    comm_thread::SimulatedNetwork& network;
    SimulatedWorld world;
    EventQueue events{};
    std::uint64_t event_count = 0;
    std::uint64_t verification_count = 0;  // that it has left
    double met_seconds = 0;  // when the last rank came to the verification
    bool has_converged = false;
    double end_seconds = 0;
    std::atomic<bool> is_left{false};  // by its thread
  };

  bool is_sync() const { return options_.variant == SimulatedVariant::sync; }
  void make_reductions();
  void make_parts();

  void due(Lane& lane, int rank, double seconds);
  double compute_seconds(int rank, const SimulatedPart& part) const;

  /// Everything that happens on lane number `first`, and on others that their threads have left.
  void run_lanes(std::size_t first);
  /// What happens on a lane before its horizon; false: nothing.
  bool advance(Lane& lane);
  /// The next event.
  void happen(Lane& lane);
  /// Leaves lanes to another thread, if there is one.
  bool leave(std::span<Lane* const> lanes);

  void step_async(Lane& lane, int rank);
  void go_on_async(Lane& lane, int rank);
  void begin_sync(Lane& lane, int rank);
  void post_halo(Lane& lane, int rank);
  void finish_halo(Lane& lane, int rank, double arrived);
  void step_sync(Lane& lane, int rank);
  /// The rank waits for all others; the last one takes them on.
  void meet(Lane& lane, int rank);
  void verify_together(Lane& lane);
  /// The ranks of the lane go on after a verification.
  void take_on(Lane& lane);
  void leave_verification(Lane& lane, int rank);
  void refresh_halos();
  double true_value();

  void fetch_ahead(const Lane& lane) const;
  void fetch_poll_ahead(const Lane& lane, std::size_t first, std::size_t second) const;
  void close();
  SweepSimulationResult collect();

  SweepRunOptions options_;
  SweepCase what_;
  MachineModel model_;
  std::unique_ptr<comm_thread::NetworkGroup> networks_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<TreeReduction> reductions_;  // of the ranks, or none
  std::vector<std::unique_ptr<SimulatedPart>> parts_;
  std::vector<SimulatedPart::Place> places_;  // of their memory
  std::vector<double> sweep_begin_;  // of synchronous ranks
  std::vector<double> interior_fraction_;  // of their sweeps: what the halo is not waited for
  std::vector<unsigned char> is_inside_;  // overlap mode: in the interior, before the halo leaves
  double value_seconds_;  // to pack or unpack one value

  // Of each rank.
  std::vector<unsigned char> has_begun_;
  std::vector<unsigned char> is_meeting_;
  std::vector<double> waited_;

  // Of verifications. The last rank to come writes them, before it counts the verification.
  double true_value_ = 0;  // of all contributions
  double verified_seconds_ = 0;
  std::atomic<int> meeting_count_{0};
  std::atomic<std::uint64_t> verification_count_{0};
  std::atomic<bool> has_failed_{false};
  std::atomic<int> thread_count_{1};  // that are left
};

SweepRun::SweepRun(const SweepRunOptions& options, const SweepCase& what)
    : options_(options),
      what_(what),
      model_(machine_of_run(options), options.rank_count, options.seed),
      value_seconds_(what.charged_values * sizeof(double) * options.machine.overhead_per_byte),
      has_begun_(static_cast<std::size_t>(options.rank_count)),
      is_meeting_(static_cast<std::size_t>(options.rank_count)),
      waited_(static_cast<std::size_t>(options.rank_count)) {
  model_.charge_payload(what.charged_values, sizeof(comm_thread::MessageHeader), 0);
  model_.carry_channels(options.transport);
  const int thread_count = useful_threads(options, model_, what.charged_points);
  networks_ = std::make_unique<comm_thread::NetworkGroup>(
      options.rank_count, model_, ranks_of_threads(options, model_, thread_count),
      model_.lookahead());
  for (std::size_t i = 0; i < networks_->size(); ++i) {
    lanes_.push_back(std::make_unique<Lane>(options_, networks_->network(i), what.threshold));
    lanes_.back()->index = i;
  }
  make_reductions();
  make_parts();
  for (const auto& lane : lanes_)
    lane->network.on_due(
        [this, &its = *lane](int rank, double seconds) { due(its, rank, seconds); });
  networks_->join();
}

void SweepRun::make_reductions() {
  if (is_sync() || options_.reduces_by_schedules ||
      options_.detector != comm_thread::DetectorKind::residual)
    return;
  std::vector<comm_thread::SimulatedNetwork*> networks;
  for (const auto& lane : lanes_) networks.push_back(&lane->network);
  reductions_ = TreeReduction::make(
      networks, {.threshold = what_.threshold, .rank_count = options_.rank_count});
  perfmodel::prefer_huge_pages(reductions_.data(), reductions_.data() + reductions_.size());
}

void SweepRun::make_parts() {
  for (const auto& lane : lanes_)
    for (int rank = lane->network.own_ranks().begin; rank < lane->network.own_ranks().end; ++rank) {
      parts_.push_back(
          std::make_unique<SimulatedPart>(lane->world, rank, what_.make_values(rank, lane->index)));
      if (is_sync())
        parts_.back()->open_exchange();
      else
        parts_.back()->open_channels(
            options_.variant == SimulatedVariant::racy ? comm_thread::Delivery::racy
                                                       : comm_thread::Delivery::async,
            reductions_.empty() ? nullptr : &reductions_[static_cast<std::size_t>(rank)]);
    }
  if (is_sync()) {
    sweep_begin_.resize(parts_.size());
    interior_fraction_.resize(parts_.size());
    is_inside_.resize(parts_.size());
    if (options_.mode != SimulatedMode::vector && what_.interior_fraction)
      for (int rank = 0; rank < options_.rank_count; ++rank)
        interior_fraction_[static_cast<std::size_t>(rank)] = what_.interior_fraction(rank);
  }
  perfmodel::prefer_huge_pages(parts_.front().get(), parts_.back().get());
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
    const std::size_t next = std::min(rank + 1, parts_.size() - 1);
    places_.push_back(parts_[rank]->place(reinterpret_cast<const std::byte*>(parts_[next].get())));
  }
}

void SweepRun::due(Lane& lane, int rank, double seconds) {
  if (is_sync()) return finish_halo(lane, rank, seconds);
  if (!reductions_.empty())
    seconds = reductions_[static_cast<std::size_t>(rank)].event_seconds(seconds);
  lane.events.push({seconds, static_cast<std::uint32_t>(rank), EventQueue::Kind::poll});
}

/// Of the sweep that comes next, with what a shared core does for the messages.
double SweepRun::compute_seconds(int rank, const SimulatedPart& part) const {
  const bool shares_core = options_.machine.poll_interval > 0;
  const double messages = shares_core ? model_.channel_end_count() *
                                            static_cast<double>(part.neighbour_count()) *
                                            options_.machine.overhead
                                      : 0;
  return messages + static_cast<double>(part.moved_values()) * value_seconds_ +
         model_.sweep_seconds(rank, static_cast<std::uint64_t>(part.sweep_count()),
                              what_.charged_points);
}

void SweepRun::step_async(Lane& lane, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  SimulatedPart& part = *parts_[r];
  part.poll_once();
  if (is_meeting_[r]) return leave_verification(lane, rank);
  if (has_begun_[r]) {
    const SweepAction action = part.after_sweep();
    if (action == SweepAction::record_snapshot) part.record_snapshot();
    if (action == SweepAction::evaluate_snapshot) part.evaluate_snapshot();
    if (action == SweepAction::verify) return meet(lane, rank);
  }
  go_on_async(lane, rank);
}

void SweepRun::go_on_async(Lane& lane, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  SimulatedPart& part = *parts_[r];
  part.exchange();
  part.poll();
  const double seconds = compute_seconds(rank, part);
  part.sweep();
  has_begun_[r] = 1;
  lane.push_step(rank, lane.network.now() + seconds);
}

void SweepRun::begin_sync(Lane& lane, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  sweep_begin_[r] = lane.network.now();
  if (options_.mode != SimulatedMode::overlap || interior_fraction_[r] == 0)
    return post_halo(lane, rank);
  is_inside_[r] = 1;
  lane.push_step(rank,
                 lane.network.now() + compute_seconds(rank, *parts_[r]) * interior_fraction_[r]);
}

void SweepRun::post_halo(Lane& lane, int rank) {
  SimulatedPart& part = *parts_[static_cast<std::size_t>(rank)];
  part.post_halo();
  if (part.neighbour_count() == 0) finish_halo(lane, rank, lane.network.now());
}

/// Once this rank has begun its sweep and all halos of it are under way, the sweep's end is known.
void SweepRun::finish_halo(Lane& lane, int rank, double arrived) {
  const auto r = static_cast<std::size_t>(rank);
  const double begin = sweep_begin_[r];
  const SimulatedPart& part = *parts_[r];
  const double computing = compute_seconds(rank, part);
  const double interior = computing * interior_fraction_[r];
  const double boundary_begin = std::max(begin + interior, arrived);
  waited_[r] += boundary_begin - begin - interior;
  lane.push_step(rank, boundary_begin + computing - interior);
}

void SweepRun::step_sync(Lane& lane, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  SimulatedPart& part = *parts_[r];
  if (!has_begun_[r]) {
    has_begun_[r] = 1;
    return begin_sync(lane, rank);
  }
  if (is_meeting_[r]) return leave_verification(lane, rank);
  if (is_inside_[r]) {
    is_inside_[r] = 0;
    return post_halo(lane, rank);
  }
  part.take_halo();
  const bool contributes = part.sweep();
  if (contributes || part.sweep_count() >= options_.max_sweeps) return meet(lane, rank);
  begin_sync(lane, rank);
}

void SweepRun::meet(Lane& lane, int rank) {
  is_meeting_[static_cast<std::size_t>(rank)] = 1;
  if (!is_sync()) waited_[static_cast<std::size_t>(rank)] -= lane.network.now();
  lane.met_seconds = lane.network.now();
  if (meeting_count_.fetch_add(1) + 1 == options_.rank_count) verify_together(lane);
}

/// Fresh halos, the true residual and its sum over the ranks: then all leave. No rank sweeps
/// meanwhile.
void SweepRun::verify_together(Lane& lane) {
  true_value_ = true_value();
  double until = 0;
  for (const auto& each : lanes_) until = std::max(until, each->met_seconds);
  if (!is_sync()) {
    const comm_thread::SimulatedRoute far{0, options_.rank_count - 1, 0};
    until = model_.undisturbed_arrival(far, what_.largest_message * sizeof(double), until) +
            options_.machine.seconds_per_sweep +
            what_.charged_points * options_.machine.seconds_per_point;
  }
  verified_seconds_ = model_.reduction(options_.rank_count, until);
  meeting_count_.store(0);
  networks_->count_request(lane.index);
  verification_count_.fetch_add(1);
  take_on(lane);
}

void SweepRun::take_on(Lane& lane) {
  ++lane.verification_count;
  const comm_thread::RankRange& own = lane.network.own_ranks();
  for (int rank = own.begin; rank < own.end; ++rank) lane.push_step(rank, verified_seconds_);
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

void SweepRun::leave_verification(Lane& lane, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  SimulatedPart& part = *parts_[r];
  is_meeting_[r] = 0;
  bool has_ended = false;
  if (is_sync()) {
    lane.has_converged = true_value_ <= what_.threshold;
    has_ended = lane.has_converged || part.sweep_count() >= options_.max_sweeps;
  } else {
    waited_[r] += lane.network.now();
    has_ended = part.termination().verified(true_value_);
    lane.has_converged = part.termination().has_converged();
    part.want_contribution();
  }
  if (has_ended) {
    lane.end_seconds = std::max(lane.end_seconds, lane.network.now());
    part.poll();
  } else if (is_sync()) {
    begin_sync(lane, rank);
  } else {
    go_on_async(lane, rank);
  }
}

/// Fetches the memory of the ranks whose turn comes soon. With thousands of ranks, all memory of a
/// rank has left the caches when its turn comes, and waiting for it line by line takes most of a
/// simulation.
void SweepRun::fetch_ahead(const Lane& lane) const {
  constexpr std::array<std::size_t, 5> stages{15, 12, 10, 7, 4};  // events ahead
  const auto step = [this, &lane](std::size_t ahead) -> const SimulatedPart::Place* {
    const EventQueue::Event* const event = lane.events.upcoming(ahead);
    return event && event->kind == EventQueue::Kind::step ? &places_[event->rank] : nullptr;
  };
  if (const EventQueue::Event* const event = lane.events.upcoming(stages[0])) {
    const auto* const place = reinterpret_cast<const std::byte*>(&places_[event->rank]);
    fetch_lines(place, place + sizeof(SimulatedPart::Place));
    if (!reductions_.empty()) TreeReduction::prefetch(reductions_, static_cast<int>(event->rank));
  }
  if (const SimulatedPart::Place* const place = step(stages[1])) {
    fetch_lines(place->part, place->landings);
    constexpr std::ptrdiff_t object_bytes = 256;  // with what it has allocated first
    fetch_lines(place->values_object, place->values_object + object_bytes);
    fetch_lines(place->values.data(), place->values.data() + place->values.size());
  }
  if (const SimulatedPart::Place* const place = step(stages[2]))
    fetch_lines(place->channels, place->end);
  if (reductions_.empty()) fetch_poll_ahead(lane, stages[1], stages[3]);
  if (const SimulatedPart::Place* const place = step(stages[3]); place && place->transport)
    place->transport->prefetch_wires();
  if (const SimulatedPart::Place* const place = step(stages[4]); place && place->transport) {
    place->transport->prefetch_messages();
    parts_[lane.events.upcoming(stages[4])->rank]->prefetch_landings();
  }
}

/// For polls of schedules.
void SweepRun::fetch_poll_ahead(const Lane& lane, std::size_t first, std::size_t second) const {
  const EventQueue::Event* const event = lane.events.upcoming(first);
  if (event && event->kind == EventQueue::Kind::poll) {
    const SimulatedPart::Place& place = places_[event->rank];
    fetch_lines(place.part, place.part + sizeof(SimulatedPart));
    // What lies behind belongs to snapshots, and to the report that a simulation does without.
    constexpr std::ptrdiff_t polled_bytes = 3584;
    fetch_lines(place.detector, std::min(place.end, place.detector + polled_bytes));
  }
  if (const EventQueue::Event* const soon = lane.events.upcoming(second))
    lane.network.prefetch_receives(static_cast<int>(soon->rank));
}

void SweepRun::happen(Lane& lane) {
  const EventQueue::Event event = lane.events.next();
  lane.events.pop();
  fetch_ahead(lane);
  lane.network.set_now(event.seconds);
  const auto rank = static_cast<int>(event.rank);
  if (event.kind == EventQueue::Kind::poll && !reductions_.empty()) {
    lane.event_count += reductions_[event.rank].happen();
    return;
  }
  ++lane.event_count;
  if (event.kind == EventQueue::Kind::poll)
    parts_[event.rank]->poll_schedules();
  else if (is_sync())
    step_sync(lane, rank);
  else
    step_async(lane, rank);
}

bool SweepRun::advance(Lane& lane) {
  for (bool has_moved = false;; has_moved = true) {
    const double next = lane.next_seconds();
    networks_->promise(lane.index, next);
    if (next < networks_->horizon(lane.index)) {
      happen(lane);
      continue;
    }
    networks_->look(lane.index, [&lane] { return lane.next_seconds(); });
    if (verification_count_.load(std::memory_order_acquire) > lane.verification_count) {
      networks_->count_service(lane.index);
      take_on(lane);
    }
    if (lane.next_seconds() >= networks_->horizon(lane.index)) return has_moved;
  }
}

void SweepRun::run_lanes(std::size_t first) {
  std::vector<Lane*> mine{lanes_[first].get()};
  for (Patience patience;;) {
    bool has_moved = false;
    bool has_crept = false;  // without events, the others' clocks still go on
    for (Lane* const lane : mine) {
      const double before = networks_->horizon(lane->index);
      has_moved = advance(*lane) || has_moved;
      has_crept = has_crept || networks_->horizon(lane->index) > before;
    }
    if (has_moved || has_crept) patience.begin();
    if (has_moved) continue;
    const auto is_over = [this](const Lane* lane) {
      return lane->events.is_empty() && networks_->is_over(lane->index);
    };
    if (std::ranges::count_if(mine, is_over) > 0) return;
    if (has_failed_.load(std::memory_order_relaxed)) return;
    for (const auto& lane : lanes_)
      if (lane->is_left.load(std::memory_order_relaxed) &&
          lane->is_left.exchange(false, std::memory_order_acquire))
        mine.push_back(lane.get());
    if (mine.size() == lanes_.size()) continue;
    patience.wait();
    if (patience.is_over() && leave(mine)) return;
  }
}

bool SweepRun::leave(std::span<Lane* const> lanes) {
  int count = thread_count_.load();
  while (count > 1)
    if (thread_count_.compare_exchange_weak(count, count - 1)) {
      for (Lane* const lane : lanes) lane->is_left.store(true, std::memory_order_release);
      return true;
    }
  return false;
}

SweepSimulationResult SweepRun::run() {
  const comm_thread::ComputeTeam team(static_cast<int>(lanes_.size()),
                                      comm_thread::WaitPolicy::yield);
  for (const auto& lane : lanes_) {
    const RankRange& own = lane->network.own_ranks();
    for (int rank = own.begin; rank < own.end; ++rank) lane->push_step(rank, 0);
  }
  thread_count_.store(team.thread_count());
  team.run([this](const comm_thread::TeamThread& thread) {
    try {
      run_lanes(static_cast<std::size_t>(thread.index));
    } catch (...) {
      has_failed_.store(true);
      throw;
    }
  });
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
    for (const auto& lane : lanes_) lane->network.set_now(lane->network.now() + long_after);
    for (const auto& part : parts_) part->poll();
    networks_->deliver_all();
  }
  for (const auto& part : parts_) part->end_close();
  std::size_t count = 0;
  for (const auto& lane : lanes_) count += lane->network.in_flight();
  if (count > 0)
    throw std::logic_error(fmt::format("simulation: {} messages are left in flight", count));
}

SweepSimulationResult SweepRun::collect() {
  SweepSimulationResult result;
  result.has_converged = lanes_.front()->has_converged;
  for (const auto& lane : lanes_) {
    result.seconds = std::max(result.seconds, lane->end_seconds);
    result.event_count += lane->event_count;
  }
  refresh_halos();
  double residual_square = 0;
  for (const auto& part : parts_) residual_square += part->values().residual_square();
  result.relative_residual = std::sqrt(residual_square) / what_.source_norm;
  result.verification_count = is_sync() ? 1 : verification_count_.load();
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
  if (result.seconds > 0)
    result.waiting_fraction =
        std::accumulate(waited_.begin(), waited_.end(), 0.0) / (result.seconds * rank_count);
  return result;
}

}  // namespace

SweepSimulationResult simulate_sweeps(const SweepRunOptions& options, const SweepCase& what) {
  check(options);
  return SweepRun(options, what).run();
}

}  // namespace weft::solver
