#include "solver/simulation/simulated_ranks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "comm_thread/simulation/simulated_transport.h"
#include "perfmodel/huge_page_buffer.h"

namespace weft::solver {
namespace {

using comm_thread::SweepAction;

}  // namespace

SimulatedRanks::SimulatedRanks(const SweepRunOptions& options, const SweepCase& what,
                               MachineModel& model, comm_thread::NetworkGroup& networks,
                               const Lanes& lanes)
    : options_(options),
      what_(what),
      model_(model),
      networks_(networks),
      lanes_(lanes),
      value_seconds_(what.charged_values * sizeof(double) * options.machine.overhead_per_byte),
      verification_seconds_(verified_after(0)),
      lookahead_(model.lookahead()),
      has_begun_(static_cast<std::size_t>(options.rank_count)),
      is_meeting_(static_cast<std::size_t>(options.rank_count)),
      is_far_(static_cast<std::size_t>(options.rank_count)),
      waited_(static_cast<std::size_t>(options.rank_count)) {
  make_reductions();
  make_parts();
  find_far_ranks();
  for (const auto& lane : lanes_)
    lane->network.on_due(
        [this, &its = *lane](int rank, double seconds) { due(its, rank, seconds); });
}

void SimulatedRanks::make_reductions() {
  if (is_sync() || options_.reduces_by_schedules ||
      options_.detector != comm_thread::DetectorKind::residual)
    return;
  std::vector<comm_thread::SimulatedNetwork*> networks;
  for (const auto& lane : lanes_) networks.push_back(&lane->network);
  reductions_ = TreeReduction::make(
      networks, {.threshold = what_.threshold, .rank_count = options_.rank_count});
  perfmodel::prefer_huge_pages(reductions_.data(), reductions_.data() + reductions_.size());
}

void SimulatedRanks::make_parts() {
  SimulatedPart::Plans plans;
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
            reductions_.empty() ? nullptr : &reductions_[static_cast<std::size_t>(rank)], plans);
    }
  if (is_sync()) {
    sweep_begin_.resize(parts_.size());
    interior_fraction_.resize(parts_.size());
    is_inside_.resize(parts_.size());
    if (options_.mode != spmv::Mode::vector && what_.interior_fraction)
      for (int rank = 0; rank < options_.rank_count; ++rank)
        interior_fraction_[static_cast<std::size_t>(rank)] = what_.interior_fraction(rank);
  }
  perfmodel::prefer_huge_pages(parts_.front().get(), parts_.back().get());
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
    const std::size_t next = std::min(rank + 1, parts_.size() - 1);
    places_.push_back(parts_[rank]->place(reinterpret_cast<const std::byte*>(parts_[next].get())));
  }
}

void SimulatedRanks::find_far_ranks() {
  for (const auto& lane : lanes_) {
    const comm_thread::RankRange& own = lane->network.own_ranks();
    const auto is_near = [&own](const comm_thread::HaloNeighbour& neighbour) {
      return own.contains(neighbour.rank);
    };
    for (int rank = own.begin; rank < own.end; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      is_far_[r] = !std::ranges::all_of(parts_[r]->neighbours(), is_near);
      if (reductions_.empty() || !reductions_[r].has_far_neighbour()) continue;
      is_far_[r] = 1;
      lane->far_tree.push_back(rank);
    }
  }
}

void SimulatedRanks::push_step(SweepLane& lane, int rank, double seconds) {
  const EventQueue::Event step{seconds, static_cast<std::uint32_t>(rank), EventQueue::Kind::step};
  lane.events.push(step);
  if (is_far_[step.rank]) lane.far_steps.push(step);
  if (!reductions_.empty()) reductions_[step.rank].expect_step(seconds);
}

void SimulatedRanks::begin(SweepLane& lane) {
  const comm_thread::RankRange& own = lane.network.own_ranks();
  for (int rank = own.begin; rank < own.end; ++rank) push_step(lane, rank, 0);
}

/// Halos leave in steps of ranks with neighbours on other lanes, which are known beforehand, and
/// messages of the tree when its detector says; after a verification a rank of any lane may go on.
double SimulatedRanks::earliest_letter(SweepLane& lane) const {
  const double next = std::min(lane.next_seconds(), networks_.horizon(lane.index));
  if (reductions_.empty() || verification_seconds_ < 2 * lookahead_) return next;
  if (lane.far_tree_seconds <= next) {
    lane.far_tree_seconds = std::numeric_limits<double>::infinity();
    for (const int rank : lane.far_tree)
      lane.far_tree_seconds = std::min(
          lane.far_tree_seconds, reductions_[static_cast<std::size_t>(rank)].earliest_send(
                                     next, networks_.earliest_arrival(lane.index), lookahead_));
  }
  const double step = lane.far_steps.is_empty() ? std::numeric_limits<double>::infinity()
                                                : lane.far_steps.next().seconds;
  const double verified =
      std::min(next, networks_.others_now(lane.index)) + verification_seconds_ - lookahead_;
  return std::min({step, lane.far_tree_seconds, verified});
}

void SimulatedRanks::due(SweepLane& lane, int rank, double seconds) {
  if (is_sync()) return finish_halo(lane, rank, seconds);
  if (!reductions_.empty())
    seconds = reductions_[static_cast<std::size_t>(rank)].event_seconds(seconds);
  lane.events.push({seconds, static_cast<std::uint32_t>(rank), EventQueue::Kind::poll});
}

/// Time of the sweep that comes next, with what a shared core does for the messages.
double SimulatedRanks::compute_seconds(int rank, const SimulatedPart& part) const {
  const bool shares_core = options_.machine.poll_interval > 0;
  const double messages = shares_core ? model_.channel_end_count() *
                                            static_cast<double>(part.neighbour_count()) *
                                            options_.machine.overhead
                                      : 0;
  return messages + static_cast<double>(part.moved_values()) * value_seconds_ +
         model_.sweep_seconds(rank, static_cast<std::uint64_t>(part.sweep_count()),
                              what_.charged_points);
}

void SimulatedRanks::step_async(SweepLane& lane, int rank) {
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

void SimulatedRanks::go_on_async(SweepLane& lane, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  SimulatedPart& part = *parts_[r];
  part.exchange();
  part.poll();
  const double seconds = compute_seconds(rank, part);
  part.sweep();
  has_begun_[r] = 1;
  push_step(lane, rank, lane.network.now() + seconds);
}

void SimulatedRanks::begin_sync(SweepLane& lane, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  sweep_begin_[r] = lane.network.now();
  if (options_.mode != spmv::Mode::overlap || interior_fraction_[r] == 0)
    return post_halo(lane, rank);
  is_inside_[r] = 1;
  push_step(lane, rank,
            lane.network.now() + compute_seconds(rank, *parts_[r]) * interior_fraction_[r]);
}

void SimulatedRanks::post_halo(SweepLane& lane, int rank) {
  SimulatedPart& part = *parts_[static_cast<std::size_t>(rank)];
  part.post_halo();
  if (part.neighbour_count() == 0) finish_halo(lane, rank, lane.network.now());
}

/// Once this rank has begun its sweep and all halos of it are under way, the sweep's end is known.
void SimulatedRanks::finish_halo(SweepLane& lane, int rank, double arrived) {
  const auto r = static_cast<std::size_t>(rank);
  const double begin = sweep_begin_[r];
  const SimulatedPart& part = *parts_[r];
  const double computing = compute_seconds(rank, part);
  const double interior = computing * interior_fraction_[r];
  const double boundary_begin = std::max(begin + interior, arrived);
  waited_[r] += boundary_begin - begin - interior;
  push_step(lane, rank, boundary_begin + computing - interior);
}

void SimulatedRanks::step_sync(SweepLane& lane, int rank) {
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

void SimulatedRanks::meet(SweepLane& lane, int rank) {
  is_meeting_[static_cast<std::size_t>(rank)] = 1;
  if (!is_sync()) waited_[static_cast<std::size_t>(rank)] -= lane.network.now();
  lane.met_seconds = lane.network.now();
  if (!reductions_.empty())
    reductions_[static_cast<std::size_t>(rank)].expect_step(
        std::numeric_limits<double>::infinity());
  if (meeting_count_.fetch_add(1) + 1 == options_.rank_count) verify_together(lane);
}

/// When the last rank has come at `seconds`.
double SimulatedRanks::verified_after(double seconds) const {
  if (!is_sync()) {
    const comm_thread::SimulatedRoute far{0, options_.rank_count - 1, 0};
    seconds = model_.undisturbed_arrival(far, what_.largest_message * sizeof(double), seconds) +
              options_.machine.seconds_per_sweep +
              what_.charged_points * options_.machine.seconds_per_point;
  }
  return model_.reduction(options_.rank_count, seconds);
}

/// Fresh halos, the true residual and its sum over the ranks: then all leave. No rank sweeps
/// meanwhile.
void SimulatedRanks::verify_together(SweepLane& lane) {
  true_value_ = true_value();
  double until = 0;
  for (const auto& each : lanes_) until = std::max(until, each->met_seconds);
  verified_seconds_ = verified_after(until);
  meeting_count_.store(0);
  networks_.count_request(lane.index);
  verification_count_.fetch_add(1);
  take_on(lane);
}

void SimulatedRanks::take_on(SweepLane& lane) {
  ++lane.verification_count;
  lane.far_tree_seconds = 0;  // of before
  const comm_thread::RankRange& own = lane.network.own_ranks();
  for (int rank = own.begin; rank < own.end; ++rank) push_step(lane, rank, verified_seconds_);
}

void SimulatedRanks::refresh_halos() {
  for (const auto& part : parts_)
    for (std::size_t i = 0; i < part->neighbour_count(); ++i)
      part->copy_to(i, *parts_[static_cast<std::size_t>(part->neighbours()[i].rank)]);
}

double SimulatedRanks::true_value() {
  double sum = 0;
  if (is_sync()) {  // of the values before the last sweep, which had fresh halos
    for (const auto& part : parts_) sum += part->contribution();
    return sum;
  }
  refresh_halos();
  for (const auto& part : parts_) sum += part->contribution(SweepState::current);
  return sum;
}

void SimulatedRanks::leave_verification(SweepLane& lane, int rank) {
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
void SimulatedRanks::fetch_ahead(const SweepLane& lane) const {
  constexpr std::array<std::size_t, 4> stages{15, 12, 7, 4};  // events ahead
  comm_thread::FetchQueue& fetches = lane.network.fetches();
  const auto step = [this, &lane](std::size_t ahead) -> const SimulatedPart::Place* {
    const EventQueue::Event* const event = lane.events.upcoming(ahead);
    return event && event->kind == EventQueue::Kind::step ? &places_[event->rank] : nullptr;
  };
  if (const EventQueue::Event* const event = lane.events.upcoming(stages[0])) {
    const auto rank = static_cast<std::size_t>(event->rank);
    if (event->kind == EventQueue::Kind::step || reductions_.empty()) {
      fetches.add(std::as_bytes(std::span(places_).subspan(rank, 1)));
      for (const void* const what :
           std::initializer_list<const void*>{&parts_[rank], &has_begun_[rank], &is_meeting_[rank],
                                              &model_.core_factor(static_cast<int>(rank))})
        fetches.add(what);
    }
    if (!reductions_.empty()) fetches.add(std::as_bytes(std::span(reductions_).subspan(rank, 1)));
  }
  if (const EventQueue::Event* const event = lane.events.upcoming(stages[1]);
      event && !reductions_.empty())
    reductions_[event->rank].fetch_neighbours(fetches);
  if (const SimulatedPart::Place* const place = step(stages[1])) {
    for (const auto& memory : {place->part, place->values_object, place->values})
      fetches.add(memory);
    if (place->transport) fetches.add(std::as_bytes(std::span(place->transport, 1)));
  }
  if (reductions_.empty()) fetch_poll_ahead(lane, stages[1], stages[2]);
  if (const SimulatedPart::Place* const place = step(stages[2]); place && place->transport)
    place->transport->fetch_wires();
  if (const SimulatedPart::Place* const place = step(stages[3]); place && place->transport)
    place->transport->fetch_moved_messages();
  fetches.fetch_some();
  fetches.fetch_overdue();
}

/// For polls of schedules.
void SimulatedRanks::fetch_poll_ahead(const SweepLane& lane, std::size_t first,
                                      std::size_t second) const {
  const EventQueue::Event* const event = lane.events.upcoming(first);
  if (event && event->kind == EventQueue::Kind::poll) {
    const SimulatedPart::Place& place = places_[event->rank];
    lane.network.fetches().add(
        place.part.first(std::min(place.part.size(), sizeof(SimulatedPart))));
    lane.network.fetches().add(place.polled);
  }
  if (const EventQueue::Event* const soon = lane.events.upcoming(second))
    lane.network.fetch_receives(static_cast<int>(soon->rank));
}

void SimulatedRanks::happen(SweepLane& lane) {
  const EventQueue::Event event = lane.events.next();
  lane.events.pop();
  if (event.kind == EventQueue::Kind::step && is_far_[event.rank]) lane.far_steps.pop();
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

double SimulatedRanks::waited_seconds() const {
  return std::accumulate(waited_.begin(), waited_.end(), 0.0);
}

}  // namespace weft::solver
