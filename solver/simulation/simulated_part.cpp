#include "solver/simulation/simulated_part.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>

#include "comm_thread/channels/transport.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/simulation/simulated_transport.h"
#include "solver/simulation/machine_model.h"

namespace weft::solver {
namespace {

using comm_thread::ChannelSpec;
using comm_thread::HaloNeighbour;
using comm_thread::LinkPlan;
using comm_thread::MessageHeader;
using comm_thread::SweepAction;

}  // namespace

SimulatedPart::SimulatedPart(const SimulatedWorld& world, int rank, SimulatedValues values)
    : world_(world),
      rank_(rank),
      sweeper_(std::move(values.sweeper)),
      sample_(values.sample),
      memory_(values.memory),
      neighbours_(sweeper_->neighbours()),
      clock_(world.network, rank),
      space_(world.network, rank),
      comm_thread_({.is_polled = true, .clock = &clock_}),
      contribution_(std::numeric_limits<double>::infinity()),
      neighbours_iteration_(neighbours_.size()) {
  for (const HaloNeighbour& neighbour : neighbours_)
    moved_values_ += neighbour.send_count + neighbour.receive_count;
}

SimulatedPart::Place SimulatedPart::place(const std::byte* end) const {
  constexpr std::size_t object_bytes = 128;
  const auto* const part = reinterpret_cast<const std::byte*>(this);
  const auto* const detector = reinterpret_cast<const std::byte*>(termination_.get());
  Place place{.part = {part, sizeof(*this)},
              .values_object = {reinterpret_cast<const std::byte*>(sweeper_.get()), object_bytes},
              .values = memory_,
              .transport = transport_};
  // Elsewhere than supposed, only what is known to be there.
  constexpr std::ptrdiff_t most_bytes = 1 << 15;
  if (!(part < detector && detector < end && end - part < most_bytes)) return place;
  place.part = {part, end};
  // What lies behind belongs to snapshots, and to the report that a simulation does without.
  constexpr std::ptrdiff_t polled_bytes = 3584;
  place.polled = {detector, std::min(end, detector + polled_bytes)};
  return place;
}

bool SimulatedPart::sweep() {
  const bool contributes = sweep_count_ >= next_contribution_;
  TileJudge* const judge = contributes ? sweeper_->tile_judge() : nullptr;
  if (contributes && !judge) {
    comm_thread::ExactAccumulator square;
    sweeper_->sweep(world_.thread, SweepPart::all, &square);
    contribution_ = square.rounded();
  } else {
    sweeper_->sweep(world_.thread, SweepPart::all, nullptr);
    // Residuals as last computed: those that this sweep has solved for.
    if (judge) contribution_ = static_cast<double>(judge->unconverged_count(0));
  }
  sweeper_->finish_sweep();
  if (contributes) next_contribution_ = sweep_count_ + world_.options.contribution_period;
  ++sweep_count_;
  return contributes;
}

double SimulatedPart::residual_square(SweepState state) {
  comm_thread::ExactAccumulator square;
  sweeper_->add_residual(world_.thread, state, square);
  return square.rounded();
}

double SimulatedPart::contribution(SweepState state) {
  const double square = residual_square(state);
  const TileJudge* const judge = sweeper_->tile_judge();
  return judge ? static_cast<double>(judge->unconverged_count(0)) : square;
}

void SimulatedPart::copy_to(std::size_t i, SimulatedPart& neighbour) const {
  std::vector<double> message(static_cast<std::size_t>(neighbours_[i].send_count));
  sweeper_->pack(world_.thread, SweepState::current, i, message);
  for (std::size_t back = 0; back < neighbour.neighbours_.size(); ++back)
    if (neighbour.neighbours_[back].rank == rank_)
      neighbour.sweeper_->unpack(world_.thread, SweepState::current, back, message);
}

void SimulatedPart::open_channels(comm_thread::Delivery delivery, TreeReduction* reduction,
                                  Plans& plans) {
  reduction_ = reduction;
  plans.channels.clear();
  plans.links.clear();
  const int most = world_.options.max_in_flight;
  for (const HaloNeighbour& neighbour : neighbours_) {
    const auto send_count = static_cast<std::size_t>(neighbour.send_count);
    const auto receive_count = static_cast<std::size_t>(neighbour.receive_count);
    plans.channels.push_back({.neighbour = neighbour.rank,
                              .send_count = send_count,
                              .receive_count = receive_count,
                              .max_in_flight = most});
    plans.links.push_back({.neighbour = neighbour.rank,
                           .send_tag = MachineModel::channel_tag,
                           .receive_tag = MachineModel::channel_tag,
                           .send_bytes = sizeof(MessageHeader) + send_count * sizeof(double),
                           .receive_bytes = sizeof(MessageHeader) + receive_count * sizeof(double),
                           .slot_count = static_cast<std::size_t>(most)});
  }
  auto transport = std::make_unique<comm_thread::SimulatedTransport>(
      world_.network, rank_, plans.links,
      world_.options.transport.kind == comm_thread::TransportKind::two_sided
          ? comm_thread::Acknowledgement::on_arrival
          : comm_thread::Acknowledgement::on_release);
  transport_ = transport.get();
  channels_ = std::make_unique<comm_thread::ChannelSet>(comm_thread_, plans.channels, delivery,
                                                        std::move(transport));
  constexpr std::size_t kept_samples = 2;  // nobody asks for its report
  termination_ = std::make_unique<comm_thread::Termination>(
      static_cast<const comm_thread::MessageSpace&>(space_), comm_thread_,
      comm_thread::Termination::Options{.detector = world_.options.detector,
                                        .threshold = world_.threshold,
                                        .neighbours = neighbours_,
                                        .history_capacity = kept_samples},
      reduction ? std::make_unique<TreeDetector>(*reduction) : nullptr);
}

SweepAction SimulatedPart::after_sweep() {
  const bool is_converged =
      contribution_ <= world_.threshold / static_cast<double>(world_.network.rank_count());
  gives_up_ = sweep_count_ >= world_.options.max_sweeps;
  return termination_->after_sweep(
      {contribution_, is_converged, gives_up_, static_cast<std::uint64_t>(sweep_count_)});
}

void SimulatedPart::record_snapshot() {
  sweeper_->record(world_.thread);
  for (std::size_t i = 0; i < neighbours_.size(); ++i)
    sweeper_->pack(world_.thread, SweepState::recorded, i,
                   sent_part(neighbours_[i], termination_->snapshot_send_buffer()));
  termination_->snapshot_recorded();
}

void SimulatedPart::evaluate_snapshot() {
  for (std::size_t i = 0; i < neighbours_.size(); ++i)
    sweeper_->unpack(world_.thread, SweepState::recorded, i,
                     received_part(neighbours_[i], termination_->snapshot_halo()));
  termination_->snapshot_evaluated(contribution(SweepState::recorded));
}

void SimulatedPart::exchange() {
  comm_thread::ChannelSet& channels = *channels_;
  const bool is_sending = sweep_count_ - last_sent_ >= world_.options.halo_period;
  if (is_sending) last_sent_ = sweep_count_;
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    comm_thread::Channel& channel = channels[i];
    if (is_sending && channel.can_send()) {
      sweeper_->pack(world_.thread, SweepState::current, i, channel.outgoing());
      channel.send(static_cast<std::uint64_t>(sweep_count_));
      ++traffic_.sent_count;
    } else {
      traffic_.skipped_count += is_sending;
    }
    if (channel.can_receive()) {
      const comm_thread::Received received = channel.receive();
      sweeper_->unpack(world_.thread, SweepState::current, i, received.values);
      neighbours_iteration_[i] = received.iteration;
    }
    const auto own = static_cast<std::uint64_t>(sweep_count_);
    traffic_.staleness_sum += own - std::min(own, neighbours_iteration_[i]);
    ++traffic_.used_count;
  }
}

void SimulatedPart::open_exchange() {
  halo_exchange_ = std::make_unique<comm_thread::HaloExchange<double>>(space_, neighbours_, 0);
}

void SimulatedPart::post_halo() {
  for (std::size_t i = 0; i < neighbours_.size(); ++i)
    sweeper_->pack(world_.thread, SweepState::current, i,
                   sent_part(neighbours_[i], halo_exchange_->send_buffer()));
  pending_ = halo_exchange_->post(comm_thread_);
  traffic_.sent_count += neighbours_.size();
  poll();
}

void SimulatedPart::take_halo() {
  poll();
  if (!pending_->test()) throw std::logic_error("a simulated halo is late");
  for (std::size_t i = 0; i < neighbours_.size(); ++i)
    sweeper_->unpack(world_.thread, SweepState::current, i,
                     received_part<const double>(neighbours_[i], halo_exchange_->received()));
}

void SimulatedPart::begin_close() {
  if (channels_) channels_->begin_close();
}

bool SimulatedPart::is_drained() const {
  return !channels_ || (channels_->is_drained() && termination_->is_drained());
}

void SimulatedPart::end_close() {
  if (!channels_) return;
  termination_->detach();
  channels_->end_close();
}

}  // namespace weft::solver
