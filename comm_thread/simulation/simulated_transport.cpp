#include "comm_thread/simulation/simulated_transport.h"

#include <algorithm>

namespace weft::comm_thread {

SimulatedTransport::SimulatedTransport(SimulatedNetwork& network, int rank,
                                       std::span<const LinkPlan> plans,
                                       Acknowledgement acknowledgement)
    : network_(network) {
  links_.reserve(plans.size());
  for (const LinkPlan& plan : plans) {
    links_.push_back({&network.wire({rank, plan.neighbour, plan.send_tag}, plan.send_bytes),
                      &network.wire({plan.neighbour, rank, plan.receive_tag}, plan.receive_bytes),
                      plan.send_bytes, plan.receive_bytes});
    links_.back().in->is_acknowledged_on_arrival = acknowledgement == Acknowledgement::on_arrival;
  }
}

bool SimulatedTransport::progress() {
  if (rests_) return false;
  if (looked_ != network_.look_count()) {
    looked_ = network_.look_count();
    due_ = has_drafts_ ? network_.now() : SimulatedNetwork::Wire::never;
    for (const Link& link : links_)
      due_ = std::min({due_, link.out->next_acknowledgement, link.in->next_arrival});
  }
  if (due_ > network_.now()) return false;
  looked_ = 0;
  has_drafts_ = false;
  return true;
}

void SimulatedTransport::fetch_wires() const {
  FetchQueue& fetches = network_.fetches();
  for (const Link& link : links_) {
    fetches.add(link.out->memory(link.send_bytes));
    fetches.add(link.in->memory(link.receive_bytes));
  }
}

void SimulatedTransport::fetch_moved_messages() const {
  FetchQueue& fetches = network_.fetches();
  for (const Link& link : links_) {
    const auto& sent = link.out->messages;
    const auto& received = link.in->messages;
    if (sent.has_grown()) fetches.add(sent.memory(link.out->started));
    if (received.has_grown()) fetches.add(received.memory(link.in->released));
  }
}

std::span<std::byte> SimulatedTransport::send_slot(std::size_t link, std::uint64_t number) {
  network_.fetches().fetch_some();
  has_drafts_ = true;
  looked_ = 0;
  return {links_[link].out->messages.payload(number - 1), links_[link].send_bytes};
}

void SimulatedTransport::start(std::size_t link, std::uint64_t number) {
  network_.fetches().fetch_some();
  network_.start(*links_[link].out, number, links_[link].send_bytes);
}

std::uint64_t SimulatedTransport::acknowledged(std::size_t link) {
  SimulatedNetwork::Wire& wire = *links_[link].out;
  if (wire.next_acknowledgement > network_.now()) return wire.acknowledged;
  while (wire.next_acknowledgement <= network_.now())
    wire.next_acknowledgement = ++wire.acknowledged == wire.started
                                    ? SimulatedNetwork::Wire::never
                                    : wire.messages.times(wire.acknowledged).acknowledgement;
  if (wire.far) wire.released = wire.acknowledged;  // as far as this half knows
  while (wire.messages.first() < std::min(wire.acknowledged, wire.released)) wire.messages.pop();
  return wire.acknowledged;
}

std::optional<std::span<const std::byte>> SimulatedTransport::arrived(std::size_t link) {
  SimulatedNetwork::Wire& wire = *links_[link].in;
  network_.fetches().fetch_some();
  if (wire.next_arrival > network_.now()) return std::nullopt;
  return std::span<const std::byte>(wire.messages.payload(wire.released),
                                    links_[link].receive_bytes);
}

void SimulatedTransport::release(std::size_t link) {
  SimulatedNetwork::Wire& wire = *links_[link].in;
  const std::uint32_t message = wire.released++;
  wire.next_arrival = wire.released == wire.started ? SimulatedNetwork::Wire::never
                                                    : wire.messages.times(wire.released).arrival;
  if (wire.far) {
    wire.messages.pop();
    wire.acknowledged = wire.released;  // as far as this half knows
  }
  if (wire.is_acknowledged_on_arrival) return;
  wire.last_acknowledgement = std::max(
      wire.last_acknowledgement, network_.model().acknowledgement(wire.route, network_.now()));
  network_.acknowledge(wire, message, wire.last_acknowledgement);
}

}  // namespace weft::comm_thread
