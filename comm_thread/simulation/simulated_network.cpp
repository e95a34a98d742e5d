#include "comm_thread/simulation/simulated_network.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

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
    known = new (pool_.take(sizeof(Port))) Port{.messages = Port::Messages(pool_), .route = route};
    ports_.push_back(known);
  }
  known->messages.expect(bytes);
  most_bytes_ = std::max(most_bytes_, bytes);
  return *known;
}

void SimulatedNetwork::add_receive(int rank, Port& port) {
  Receives& receives = receives_[static_cast<std::size_t>(rank - own_.begin)];
  if (receives.count < Receives::most) receives.ports[receives.count++] = &port;
}

SimulatedNetwork::Wire& SimulatedNetwork::wire(const SimulatedRoute& route, std::size_t bytes) {
  Wire*& known = wire_of_[key(0, route)];
  if (!known) {
    known = new (pool_.take(sizeof(Wire))) Wire(route, pool_);
    wires_.push_back(known);
  }
  known->messages.expect(bytes);
  most_bytes_ = std::max(most_bytes_, bytes);
  return *known;
}

void SimulatedNetwork::join(std::span<SimulatedNetwork* const> networks, std::size_t place,
                            std::size_t most_bytes) {
  networks_.assign(networks.begin(), networks.end());
  place_ = place;
  for (std::size_t to = 0; to < networks.size(); ++to) {
    letters_to_.push_back(std::make_unique<LetterQueue>(most_bytes));
    receipts_to_.push_back(std::make_unique<LetterQueue>(0));
  }
  for (const auto& [its_key, port] : port_of_)
    if (own_.contains(port->route.from) && !own_.contains(port->route.to))
      port->far = networks_[place_of(port->route.to)]->port_of_.at(its_key);
  for (const auto& [its_key, wire] : wire_of_)
    if (!own_.contains(wire->route.to))
      wire->far = networks_[place_of(wire->route.to)]->wire_of_.at(its_key);
    else if (!own_.contains(wire->route.from))
      wire->far = networks_[place_of(wire->route.from)]->wire_of_.at(its_key);
  for (const Port* const port : ports_)
    if (!own_.contains(port->route.from)) expect_letters(port->route.to);
  for (const Wire* const wire : wires_)
    if (!own_.contains(wire->route.from)) expect_letters(wire->route.to);
  spread_to_nodes();
}

void SimulatedNetwork::spread_to_nodes() {
  const auto spread = [this](int from, int to) {
    const auto at = [this](int rank) -> unsigned char& {
      return hears_from_afar_[static_cast<std::size_t>(rank - own_.begin)];
    };
    if (at(from) && !at(to) && model_.is_within_node({from, to, 0})) at(to) = 1;
  };
  for (int rank = own_.begin + 1; rank < own_.end; ++rank) spread(rank - 1, rank);
  for (int rank = own_.end - 1; rank > own_.begin; --rank) spread(rank, rank - 1);
}

std::size_t SimulatedNetwork::place_of(int rank) const {
  const auto found = std::ranges::find_if(
      networks_, [rank](const SimulatedNetwork* network) { return network->own_.contains(rank); });
  return static_cast<std::size_t>(found - networks_.begin());
}

void SimulatedNetwork::write_letter(const SimulatedRoute& route, std::size_t bytes, void* target,
                                    Letter::Kind kind, const std::byte* payload) {
  const std::size_t to = place_of(route.to);
  Letter& letter = letters_to_[to]->draft();
  letter.started = now_;
  letter.departed = model_.departure(route, bytes, now_);
  letter.target = target;
  letter.from = static_cast<std::uint32_t>(route.from);
  letter.bytes = static_cast<std::uint32_t>(bytes);
  letter.kind = kind;
  if (payload && bytes > 0) std::memcpy(letter.payload(), payload, bytes);
  if (to == place_) {
    first_to_itself_ = std::min(first_to_itself_, now_);
  } else {
    if (now_ < silent_until_)
      throw std::logic_error("simulation: a letter to another thread is earlier than promised");
    ++sent_count_;
    const bool is_first = unreceived_.empty() || unreceived_.back() < now_;
    if (kind == Letter::Kind::wire && is_first) unreceived_.push_back(now_);
  }
  letters_to_[to]->send();
}

void SimulatedNetwork::start(Wire& wire, std::uint64_t number, std::size_t bytes) {
  wire.messages.push({});
  wire.started = static_cast<std::uint32_t>(number);
  if (!writes_letters(wire.route))
    set_arrival(wire, bytes, model_.departure(wire.route, bytes, now_));
  else if (wire.far)
    write_letter(wire.route, bytes, wire.far, Letter::Kind::wire,
                 wire.messages.payload(number - 1));
  else  // the payload is where it belongs
    write_letter(wire.route, bytes, &wire, Letter::Kind::wire, nullptr);
}

void SimulatedNetwork::start(Port& port, std::size_t bytes) {
  std::byte* const payload = port.messages.payload(port.messages.end());
  if (!model_.carries(port.route, {payload, bytes})) return;
  if (!writes_letters(port.route))
    set_arrival(port, bytes, model_.departure(port.route, bytes, now_));
  else
    write_letter(port.route, bytes, port.far ? port.far : &port, Letter::Kind::port, payload);
}

void SimulatedNetwork::send(Edge& edge, const std::array<double, Edge::value_count>& values) {
  if (writes_letters(edge.route)) {
    write_letter(edge.route, Edge::bytes, &edge, Letter::Kind::edge,
                 reinterpret_cast<const std::byte*>(values.data()));
    return;
  }
  edge.values = values;
  set_arrival(edge, model_.departure(edge.route, Edge::bytes, now_));
}

void SimulatedNetwork::set_arrival(Wire& wire, std::size_t bytes, double departed) {
  wire.last_arrival = std::max(wire.last_arrival, model_.arrival(wire.route, bytes, departed));
  const std::uint32_t number = wire.timed++;
  wire.messages.times(number).arrival = wire.last_arrival;
  if (wire.released == number) {
    wire.next_arrival = wire.last_arrival;
    look_again_if_due(wire.last_arrival);
  }
  if (wire.is_acknowledged_on_arrival)
    acknowledge(wire, number, model_.acknowledgement(wire.route, wire.last_arrival));
}

void SimulatedNetwork::set_arrival(Port& port, std::size_t bytes, double departed) {
  port.last_arrival = std::max(port.last_arrival, model_.arrival(port.route, bytes, departed));
  port.messages.push({.arrival = port.last_arrival});
  note_arrival(port.waiting, port.route.to, port.last_arrival);
}

void SimulatedNetwork::set_arrival(Edge& edge, double departed) {
  edge.arrival = model_.arrival(edge.route, Edge::bytes, departed);
  note_arrival(edge.waiting, edge.route.to, edge.arrival);
}

void SimulatedNetwork::note_arrival(Arrivals*& waiting, int rank, double arrival) const {
  Arrivals* const arrivals = std::exchange(waiting, nullptr);
  if (!arrivals) return;
  arrivals->last = std::max(arrivals->last, arrival);
  if (--arrivals->missing == 0) announce(rank, arrivals->last);
}

void SimulatedNetwork::acknowledge(Wire& wire, std::uint64_t number, double seconds) {
  if (wire.far && own_.contains(wire.route.to)) {
    LetterQueue& receipts = *receipts_to_[place_of(wire.route.from)];
    Letter& receipt = receipts.draft();
    receipt.target = wire.far;
    receipt.started = seconds;
    ++sent_count_;
    receipts.send();
    return;
  }
  wire.messages.times(number).acknowledgement = seconds;
  if (wire.acknowledged != number) return;
  wire.next_acknowledgement = seconds;
  look_again_if_due(seconds);
}

Letter* SimulatedNetwork::first_letter() {
  Letter* first = nullptr;
  for (std::size_t from = 0; from < networks_.size(); ++from) {
    Letter* const letter = networks_[from]->letters_to_[place_]->front();
    if (!letter || (first && std::pair(first->started, first->from) <
                                 std::pair(letter->started, letter->from)))
      continue;
    first = letter;
    first_from_ = from;
  }
  return first;
}

void SimulatedNetwork::deliver_first() {
  LetterQueue& letters = *networks_[first_from_]->letters_to_[place_];
  Letter& letter = *letters.front();
  if (letter.kind == Letter::Kind::edge) {
    Edge& edge = *static_cast<Edge*>(letter.target);
    std::memcpy(edge.values.data(), letter.payload(), Edge::bytes);
    set_arrival(edge, letter.departed);
  } else if (letter.kind == Letter::Kind::wire) {
    Wire& wire = *static_cast<Wire*>(letter.target);
    if (wire.far) {
      std::memcpy(wire.messages.payload(wire.messages.end()), letter.payload(), letter.bytes);
      wire.messages.push({});
      ++wire.started;
    }
    set_arrival(wire, letter.bytes, letter.departed);
  } else {
    Port& port = *static_cast<Port*>(letter.target);
    std::byte* const payload = port.messages.payload(port.messages.end());
    if (letter.bytes > 0) std::memcpy(payload, letter.payload(), letter.bytes);
    set_arrival(port, letter.bytes, letter.departed);
  }
  letters.pop();
  taken_count_ += first_from_ != place_;
}

bool SimulatedNetwork::has_mail() const {
  return std::ranges::any_of(networks_, [this](const SimulatedNetwork* network) {
    return network != this &&
           (network->letters_to_[place_]->front() || network->receipts_to_[place_]->front());
  });
}

void SimulatedNetwork::take_receipts() {
  for (std::size_t from = 0; from < networks_.size(); ++from) {
    LetterQueue& receipts = *networks_[from]->receipts_to_[place_];
    while (const Letter* const receipt = receipts.front()) {
      Wire& wire = *static_cast<Wire*>(receipt->target);
      acknowledge(wire, wire.timed++, receipt->started);
      receipts.pop();
      ++taken_count_;
    }
  }
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
