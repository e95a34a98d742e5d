#include "solver/simulation/simulated_part.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "comm_thread/channels/transport.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/simulation/simulated_transport.h"
#include "spmv/grid/average_sweep.h"

namespace weft::solver {
namespace {

using comm_thread::ChannelSpec;
using comm_thread::HaloNeighbour;
using comm_thread::LinkPlan;
using comm_thread::MessageHeader;
using comm_thread::SweepAction;

}  // namespace

SimulatedPart::SimulatedPart(SimulatedWorld& world, int rank, std::span<double> values)
    : world_(world),
      rank_(rank),
      values_(values),
      clock_(world.network, rank),
      space_(world.network, rank),
      comm_thread_({.is_polled = true, .clock = &clock_}),
      contribution_(std::numeric_limits<double>::infinity()) {
  const auto count = static_cast<std::int64_t>(world.shape.face_size());
  faces_ = world.shape.faces_with_neighbour(rank);
  for (const std::size_t face : faces_) {
    const std::int64_t begin = count * static_cast<std::int64_t>(neighbours_.size());
    neighbours_.push_back({world.shape.neighbour(rank, face), begin, count, begin, count});
  }
}

SimulatedPart::Place SimulatedPart::place(const std::byte* end) const {
  const auto* const part = reinterpret_cast<const std::byte*>(this);
  const auto* const detector = reinterpret_cast<const std::byte*>(termination_.get());
  Place place{.part = part,
              .comm_thread = reinterpret_cast<const std::byte*>(&comm_thread_),
              .values = reinterpret_cast<const std::byte*>(values_.data())};
  place.transport = transport_;
  // Elsewhere than supposed, only what is known to be there.
  constexpr std::ptrdiff_t most_bytes = 1 << 15;
  const bool is_as_supposed = part < detector && detector < end && end - part < most_bytes;
  place.detector = is_as_supposed ? detector : part + sizeof(*this);
  place.end = is_as_supposed ? end : part + sizeof(*this);
  return place;
}

bool SimulatedPart::sweep() {
  const spmv::GridLayout& layout = world_.shape.layout();
  const bool contributes = sweep_count_ >= next_contribution_;
  double* const fresh = world_.scratch.data();
  if (contributes) {
    comm_thread::ExactAccumulator square;
    spmv::sweep_average_with_residual(layout, values_.data(), fresh, layout.own(),
                                      world_.residual_bound, square);
    contribution_ = square.rounded();
    next_contribution_ = sweep_count_ + world_.options.contribution_period;
  } else {
    spmv::sweep_average(layout, values_.data(), fresh, layout.own());
  }
  const int points = world_.shape.points();
  for (int z = 0; z < points; ++z)
    for (int y = 0; y < points; ++y) {
      const std::size_t row = layout.index(0, y, z);
      std::copy_n(fresh + row, points, values_.data() + row);
    }
  ++sweep_count_;
  return contributes;
}

double SimulatedPart::residual_square(std::span<const double> values) const {
  comm_thread::ExactAccumulator square;
  const spmv::GridLayout& layout = world_.shape.layout();
  spmv::add_average_residual(layout, values.data(), layout.own(), world_.residual_bound, square);
  return square.rounded();
}

void SimulatedPart::copy_face(std::size_t face, std::span<double> neighbours_values) const {
  const std::vector<std::uint32_t>& own = world_.shape.own(face);
  const std::vector<std::uint32_t>& ghosts = world_.shape.ghosts(face ^ 1U);
  for (std::size_t i = 0; i < own.size(); ++i) neighbours_values[ghosts[i]] = values_[own[i]];
}

void SimulatedPart::open_channels(comm_thread::Delivery delivery) {
  std::vector<ChannelSpec> specs;
  std::vector<LinkPlan> plans;
  const std::size_t count = world_.shape.face_size();
  const std::size_t bytes = sizeof(MessageHeader) + count * sizeof(double);
  const int most = world_.options.max_in_flight;
  for (const HaloNeighbour& neighbour : neighbours_) {
    specs.push_back({.neighbour = neighbour.rank,
                     .send_count = count,
                     .receive_count = count,
                     .max_in_flight = most});
    plans.push_back({.neighbour = neighbour.rank,
                     .send_bytes = bytes,
                     .receive_bytes = bytes,
                     .slot_count = static_cast<std::size_t>(most)});
  }
  auto transport = std::make_unique<comm_thread::SimulatedTransport>(
      world_.network, rank_, plans, comm_thread::Acknowledgement::on_arrival);
  transport_ = transport.get();
  channels_ = std::make_unique<comm_thread::ChannelSet>(comm_thread_, specs, delivery,
                                                        std::move(transport));
  constexpr std::size_t kept_samples = 2;  // nobody asks for its report
  termination_ = std::make_unique<comm_thread::Termination>(
      static_cast<const comm_thread::MessageSpace&>(space_), comm_thread_,
      comm_thread::Termination::Options{.detector = world_.options.detector,
                                        .threshold = world_.threshold,
                                        .neighbours = neighbours_,
                                        .history_capacity = kept_samples});
}

SweepAction SimulatedPart::after_sweep() {
  const bool is_converged =
      contribution_ <= world_.threshold / static_cast<double>(world_.shape.rank_count());
  gives_up_ = sweep_count_ >= world_.options.max_sweeps;
  return termination_->after_sweep(
      {contribution_, is_converged, gives_up_, static_cast<std::uint64_t>(sweep_count_)});
}

void SimulatedPart::record_snapshot() {
  recorded_.assign(values_.begin(), values_.end());
  const std::size_t count = world_.shape.face_size();
  for (std::size_t i = 0; i < faces_.size(); ++i)
    world_.shape.pack(recorded_, faces_[i],
                      termination_->snapshot_send_buffer().subspan(i * count, count));
  termination_->snapshot_recorded();
}

void SimulatedPart::evaluate_snapshot() {
  const std::size_t count = world_.shape.face_size();
  for (std::size_t i = 0; i < faces_.size(); ++i)
    world_.shape.unpack(recorded_, faces_[i],
                        termination_->snapshot_halo().subspan(i * count, count));
  termination_->snapshot_evaluated(residual_square(recorded_));
}

void SimulatedPart::exchange() {
  comm_thread::ChannelSet& channels = *channels_;
  const bool is_sending = sweep_count_ - last_sent_ >= world_.options.halo_period;
  if (is_sending) last_sent_ = sweep_count_;
  for (std::size_t i = 0; i < faces_.size(); ++i) {
    comm_thread::Channel& channel = channels[i];
    if (is_sending && channel.can_send()) {
      world_.shape.pack(values_, faces_[i], channel.outgoing());
      channel.send(static_cast<std::uint64_t>(sweep_count_));
      ++traffic_.sent_count;
    } else {
      traffic_.skipped_count += is_sending;
    }
    if (channel.can_receive()) {
      const comm_thread::Received received = channel.receive();
      world_.shape.unpack(values_, faces_[i], received.values);
      neighbours_iteration_[i] = received.iteration;
    }
    const auto own = static_cast<std::uint64_t>(sweep_count_);
    traffic_.staleness_sum += own - std::min(own, neighbours_iteration_[i]);
    ++traffic_.used_count;
  }
}

void SimulatedPart::open_exchange() {
  halo_.resize(world_.shape.face_size() * faces_.size());
  halo_exchange_ = std::make_unique<comm_thread::HaloExchange>(space_, neighbours_, halo_, 0);
}

void SimulatedPart::post_halo() {
  const std::size_t count = world_.shape.face_size();
  for (std::size_t i = 0; i < faces_.size(); ++i)
    world_.shape.pack(values_, faces_[i], halo_exchange_->send_buffer().subspan(i * count, count));
  pending_ = halo_exchange_->post(comm_thread_);
  traffic_.sent_count += faces_.size();
  poll();
}

void SimulatedPart::take_halo() {
  poll();
  if (!pending_->test()) throw std::logic_error("a simulated halo is late");
  const std::size_t count = world_.shape.face_size();
  for (std::size_t i = 0; i < faces_.size(); ++i)
    world_.shape.unpack(values_, faces_[i],
                        std::span<const double>(halo_).subspan(i * count, count));
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
