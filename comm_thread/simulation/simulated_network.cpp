#include "comm_thread/simulation/simulated_network.h"

#include <algorithm>
#include <new>

namespace weft::comm_thread {

std::size_t SimulatedNetwork::Hash::operator()(const Key& key) const {
  std::uint64_t mixed = key.space;
  for (const std::uint64_t part : {key.route, key.tag}) {
    mixed = (mixed ^ part) * 0x9e3779b97f4a7c15U;
    mixed ^= mixed >> 32U;
  }
  return static_cast<std::size_t>(mixed);
}

SimulatedNetwork::Key SimulatedNetwork::key(std::uint64_t space, const SimulatedRoute& route) {
  const auto from = static_cast<std::uint64_t>(static_cast<std::uint32_t>(route.from));
  const auto to = static_cast<std::uint64_t>(static_cast<std::uint32_t>(route.to));
  return {space, from << 32U | to,
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(route.tag))};
}

SimulatedNetwork::Port& SimulatedNetwork::port(std::uint64_t space, const SimulatedRoute& route,
                                               std::size_t bytes) {
  Port*& known = port_of_[key(space, route)];
  if (!known) {
    known = new (pool_.take(sizeof(Port))) Port{.messages = MessageRing(pool_), .route = route};
    ports_.push_back(known);
  }
  known->messages.expect(bytes);
  return *known;
}

void SimulatedNetwork::add_receive(int rank, Port& port) {
  Receives& receives = receives_[static_cast<std::size_t>(rank)];
  if (receives.count < Receives::most) receives.ports[receives.count++] = &port;
}

SimulatedNetwork::Wire& SimulatedNetwork::wire(const SimulatedRoute& route, std::size_t bytes) {
  Wire*& known = wire_of_[key(0, route)];
  if (!known) {
    known = new (pool_.take(sizeof(Wire))) Wire(route, pool_);
    wires_.push_back(known);
  }
  known->messages.expect(bytes);
  return *known;
}

SimulatedNetwork::Reduction& SimulatedNetwork::reduction(std::uint64_t space, std::uint64_t round,
                                                         std::size_t count) {
  Reduction& known = reductions_[Key{space, round % 2, 0}];
  if (known.values.size() != count) known.values.resize(count);
  return known;
}

std::size_t SimulatedNetwork::schedule_messages_in_flight() const {
  std::size_t count = 0;
  for (const Port* const port : ports_)
    count += static_cast<std::size_t>(port->messages.end() - port->messages.first());
  return count;
}

std::size_t SimulatedNetwork::in_flight() const {
  std::size_t count = schedule_messages_in_flight();
  for (const Wire* const wire : wires_)
    count += static_cast<std::size_t>(wire->started - std::min(wire->released, wire->acknowledged));
  return count;
}

}  // namespace weft::comm_thread
