#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/simulation/network_model.h"
#include "solver/simulation/machine.h"

namespace weft::solver {

/// Times of messages on a machine, and of computations with their disturbances.
///
///     start ─o─► link of the node, free ─g + G·bytes─► ─L + hops─► link in, free ─o + O·bytes─►
///
/// A node's ranks share its link in and its link out; messages inside a node use neither. A link
/// that was idle passes on a burst at once (`Machine::burst_bytes`), as a token bucket does. Links
/// between switches are never full. Every random number depends on the seed, the rank and the
/// number of the sweep alone.
class MachineModel final : public comm_thread::NetworkModel {
 public:
  MachineModel(const Machine& machine, int rank_count, std::uint64_t seed);

  double departure(const comm_thread::SimulatedRoute& route, std::size_t bytes,
                   double now) override;
  double arrival(const comm_thread::SimulatedRoute& route, std::size_t bytes,
                 double departed) override;
  bool is_within_node(const comm_thread::SimulatedRoute& route) const override {
    return node(route.from) == node(route.to);
  }
  double acknowledgement(const comm_thread::SimulatedRoute& route, double now) override;
  double reduction(int rank_count, double now) override;

  /// Arrival of a message that finds all links free.
  double undisturbed_arrival(const comm_thread::SimulatedRoute& route, std::size_t bytes,
                             double now) const;

  /// Seconds that pass between two nodes before anything on one matters on the other one, at least.
  double lookahead() const;

  /// Ends of a channel's message that spend Machine::overhead on it: 1 or 2.
  int channel_end_count() const { return are_put(channel_tag) ? 1 : 2; }

  /// Tag of the messages of channels.
  static constexpr int channel_tag = 1 << 20;
  /// How channels carry their messages; without this call, by sends and receives.
  ///
  ///     two-sided       ── message ──► o + O·bytes                              the receive
  ///     one-sided:…local── put ──► O·bytes                              checksum and copy
  ///     one-sided:flush ── put ──► ── L + o ──► o + g ── L ──► O·bytes   flush, announcement
  ///     one-sided:overlap  the same, after the origin's next look
  ///     shmem           ── put ──► o + g ──► O·bytes          the announcement follows the put
  ///
  /// The target of a put does not match it with a receive, and so has no overhead of a message; its
  /// communication thread looks for what has arrived and copies it. Within a node, too.
  void carry_channels(const comm_thread::TransportChoice& transport) { transport_ = transport; }

  /// Bytes of the messages with `tag`, and of channels, that are charged for one of the simulated
  /// bytes beyond `free_bytes`: parts are smaller than those they stand for.
  void charge_payload(double factor, std::size_t free_bytes, int tag) {
    payload_factor_ = factor;
    free_bytes_ = free_bytes;
    payload_tag_ = tag;
  }

  /// Duration of a sweep over `point_count` points. Unit: seconds.
  double sweep_seconds(int rank, std::uint64_t sweep, double point_count) const;
  /// By how much the sweeps of `rank` take longer than usual; `sweep_seconds` reads it.
  const double& core_factor(int rank) const { return core_factor_[static_cast<std::size_t>(rank)]; }

  int node(int rank) const { return rank / machine_.ranks_per_node; }
  int node_count() const { return static_cast<int>(out_free_.size()); }
  const Machine& machine() const { return machine_; }

 private:
  double charged_bytes(std::size_t bytes, int tag) const;
  double overhead(double charged) const {
    return machine_.overhead + charged * machine_.overhead_per_byte;
  }
  double busy(double charged) const { return machine_.gap + charged * machine_.gap_per_byte; }
  double burst_seconds() const { return machine_.burst_bytes * machine_.gap_per_byte; }
  bool are_put(int tag) const {
    return tag == channel_tag && transport_.kind != comm_thread::TransportKind::two_sided;
  }
  /// From the end of a message's way until its target has it. `latency`: of that way.
  double taking(int tag, double charged, double latency) const;
  double latency(int from_node, int to_node) const;
  int hop_count(int from_node, int to_node) const;
  std::uint64_t random(int rank, std::uint64_t sweep, std::uint64_t what) const;

  Machine machine_;
  std::uint64_t seed_;
  double payload_factor_ = 1;
  std::size_t free_bytes_ = 0;
  int payload_tag_ = 0;
  comm_thread::TransportChoice transport_;
  std::array<int, 3> torus_{1, 1, 1};
  std::vector<std::array<int, 3>> places_;  // of the nodes in the torus
  std::vector<double> out_free_;  // of each node: when its link is free; less a burst
  std::vector<double> in_free_;
  std::vector<double> core_factor_;  // of each rank
};

}  // namespace weft::solver
