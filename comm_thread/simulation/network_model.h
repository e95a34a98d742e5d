#pragma once

#include <cstddef>
#include <span>

namespace weft::comm_thread {

/// Route of a message between two simulated ranks.
struct SimulatedRoute {
  int from = 0;
  int to = 0;
  int tag = 0;
};

/// Times of a simulated network: when messages that are started now arrive.
///
/// Called in the order of simulated time. Messages of one route and tag never overtake each other:
/// the caller delays one that would.
class NetworkModel {
 public:
  virtual ~NetworkModel() = default;

  /// Time at which a message that is started at `now` leaves its node. Unit: seconds.
  virtual double departure(const SimulatedRoute& route, std::size_t bytes, double now) {
    static_cast<void>(route);
    static_cast<void>(bytes);
    return now;
  }

  /// Time at which a message that leaves its node at `departed` is complete at its destination.
  /// Unit: seconds.
  virtual double arrival(const SimulatedRoute& route, std::size_t bytes, double departed) = 0;

  /// True if messages on `route` have nothing to do with other nodes.
  virtual bool is_within_node(const SimulatedRoute& route) const {
    static_cast<void>(route);
    return false;
  }

  /// Time at which a message that is there at `now` is known at its source to have been received.
  virtual double acknowledgement(const SimulatedRoute& route, double now) = 0;

  /// Time at which an all-reduce of the network's own is complete on all ranks, once the last rank
  /// has contributed at `now`.
  virtual double reduction(int rank_count, double now) = 0;

  /// False if the message is lost; may change it. Networks do neither: this is for tests that plant
  /// a fault. Shape: payload: that of the message.
  virtual bool carries(const SimulatedRoute& route, std::span<std::byte> payload) {
    static_cast<void>(route);
    static_cast<void>(payload);
    return true;
  }
};

}  // namespace weft::comm_thread
