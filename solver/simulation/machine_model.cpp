#include "solver/simulation/machine_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace weft::solver {
namespace {

using comm_thread::SimulatedRoute;

constexpr int nodes_per_switch = 16;

/// Source: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators".
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// In (0, 1).
double fraction(std::uint64_t random) {
  return (static_cast<double>(random >> 12U) + 0.5) * 0x1p-52;
}

double normal(std::uint64_t first, std::uint64_t second) {
  return std::sqrt(-2 * std::log(fraction(first))) *
         std::cos(2 * std::numbers::pi * fraction(second));
}

/// Sides of a torus, as equal as possible, with at least `count` nodes.
std::array<int, 3> torus_sides(int count) {
  std::array<int, 3> sides{1, 1, 1};
  while (sides[0] * sides[1] * sides[2] < count) ++*std::ranges::min_element(sides);
  return sides;
}

}  // namespace

MachineModel::MachineModel(const Machine& machine, int rank_count, std::uint64_t seed)
    : machine_(machine), seed_(mix(seed + 0x9e3779b97f4a7c15U)) {
  const int node_count = node(rank_count - 1) + 1;
  torus_ = torus_sides(node_count);
  for (int at = 0; at < node_count; ++at)
    places_.push_back(
        {at % torus_[0], at / torus_[0] % torus_[1], at / (torus_[0] * torus_[1]) % torus_[2]});
  out_free_.resize(static_cast<std::size_t>(node_count), -burst_seconds());
  in_free_.resize(static_cast<std::size_t>(node_count), -burst_seconds());
  for (int rank = 0; rank < rank_count; ++rank) {
    const double spread = machine.core_spread * normal(random(rank, 0, 1), random(rank, 0, 2));
    core_factor_.push_back(std::max(0.5, 1 + spread) *
                           (rank == machine.slow_rank ? machine.slow_factor : 1));
  }
}

std::uint64_t MachineModel::random(int rank, std::uint64_t sweep, std::uint64_t what) const {
  const auto place = static_cast<std::uint64_t>(rank) << 32U | what;
  return mix(mix(seed_ ^ place) + sweep * 0x9e3779b97f4a7c15U);
}

double MachineModel::charged_bytes(std::size_t bytes, int tag) const {
  if (tag != payload_tag_ && tag != channel_tag) return static_cast<double>(bytes);
  const auto free = static_cast<double>(std::min(bytes, free_bytes_));
  return free + (static_cast<double>(bytes) - free) * payload_factor_;
}

int MachineModel::hop_count(int from_node, int to_node) const {
  if (machine_.topology == Topology::flat) return 1;
  if (machine_.topology == Topology::fat_tree) {
    int hops = 1;
    for (int from = from_node / nodes_per_switch, to = to_node / nodes_per_switch; from != to;
         from /= nodes_per_switch, to /= nodes_per_switch)
      hops += 2;
    return hops;
  }
  const std::array<int, 3>& from = places_[static_cast<std::size_t>(from_node)];
  const std::array<int, 3>& to = places_[static_cast<std::size_t>(to_node)];
  int hops = 0;
  for (std::size_t i = 0; i < torus_.size(); ++i) {
    const int distance = std::abs(from[i] - to[i]);
    hops += std::min(distance, torus_[i] - distance);
  }
  return hops;
}

double MachineModel::latency(int from_node, int to_node) const {
  if (from_node == to_node) return machine_.local_latency;
  return machine_.latency + machine_.latency_per_hop * (hop_count(from_node, to_node) - 1);
}

double MachineModel::departure(const SimulatedRoute& route, std::size_t bytes, double now) {
  const double charged = charged_bytes(bytes, route.tag);
  const double ready = now + overhead(charged);
  if (is_within_node(route)) return ready;
  double& out = out_free_[static_cast<std::size_t>(node(route.from))];
  out = std::max(out, ready - burst_seconds()) + busy(charged);
  return std::max(out, ready);
}

double MachineModel::arrival(const SimulatedRoute& route, std::size_t bytes, double departed) {
  const double charged = charged_bytes(bytes, route.tag);
  const int from = node(route.from);
  const int to = node(route.to);
  // Polls of a shared core: the message waits half an interval on average, at either end.
  const double polls = machine_.poll_interval;
  const double taken = taking(route.tag, charged, latency(from, to));
  if (from == to)
    return departed + latency(from, to) + charged * machine_.local_gap_per_byte + taken + polls;
  double& in = in_free_[static_cast<std::size_t>(to)];
  const double there = departed + latency(from, to);
  in = std::max(in + busy(charged), there - burst_seconds());
  return std::max(in, there) + taken + polls;
}

double MachineModel::taking(int tag, double charged, double latency) const {
  using enum comm_thread::OneSidedVariant;
  if (!are_put(tag)) return overhead(charged);
  const double copy = charged * machine_.overhead_per_byte;
  const double announcement = machine_.overhead + machine_.gap;
  if (transport_.kind == comm_thread::TransportKind::shmem) return copy + announcement;
  const comm_thread::OneSidedVariant variant = transport_.one_sided;
  if (variant == flush_local || variant == overlap_local) return copy;
  const double look = variant == overlap ? machine_.poll_interval : 0;
  return copy + latency + machine_.overhead + look + announcement + latency;
}

double MachineModel::undisturbed_arrival(const SimulatedRoute& route, std::size_t bytes,
                                         double now) const {
  const double charged = charged_bytes(bytes, route.tag);
  const bool is_within = is_within_node(route);
  const double link = is_within ? 0 : std::max(0.0, busy(charged) - burst_seconds());
  const double departed = now + overhead(charged) + link;
  return departed + latency(node(route.from), node(route.to)) +
         (is_within ? charged * machine_.local_gap_per_byte : 0) + overhead(charged) +
         machine_.poll_interval;
}

double MachineModel::lookahead() const {
  constexpr double rounding = 1e-3;
  const double gap = std::max(0.0, machine_.gap - burst_seconds());
  const double message = channel_end_count() * machine_.overhead + gap + machine_.latency;
  const double acknowledgement = machine_.latency + machine_.overhead;
  // Acknowledged on arrival, the way there and back is twice the time.
  const double back = are_put(channel_tag) ? acknowledgement : (message + acknowledgement) / 2;
  return (1 - rounding) * std::min(message, back);
}

double MachineModel::acknowledgement(const SimulatedRoute& route, double now) {
  return now + latency(node(route.to), node(route.from)) + machine_.overhead;
}

double MachineModel::reduction(int rank_count, double now) {
  const auto depth = std::bit_width(static_cast<unsigned>(rank_count - 1));
  const int farthest = node(rank_count - 1);
  const double hop = latency(0, farthest) + 2 * machine_.overhead + machine_.poll_interval;
  return now + static_cast<double>(depth) * hop;
}

double MachineModel::sweep_seconds(int rank, std::uint64_t sweep, double point_count) const {
  const double usual = (machine_.seconds_per_sweep + point_count * machine_.seconds_per_point) *
                       core_factor_[static_cast<std::size_t>(rank)];
  double seconds = usual;
  if (machine_.jitter > 0)
    seconds -= usual * machine_.jitter * std::log(fraction(random(rank, sweep, 3)));
  if (machine_.detour_rate > 0 && fraction(random(rank, sweep, 4)) < machine_.detour_rate * usual)
    seconds -= machine_.detour_seconds * std::log(fraction(random(rank, sweep, 5)));
  return seconds;
}

}  // namespace weft::solver
