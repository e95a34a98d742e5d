#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "comm_thread/engine/clock.h"
#include "comm_thread/mpi/reduce_operation.h"
#include "comm_thread/simulation/line_pool.h"
#include "comm_thread/simulation/message_ring.h"
#include "comm_thread/simulation/network_model.h"

namespace weft::comm_thread {

/// The network between any number of ranks in one process, and its time.
///
///     SimulatedNetwork network(rank_count, model);
///     SimulatedSpace space(network, rank);          // what Communicator is to MPI
///     network.set_now(t); comm_thread.poll();       // for the rank and the time that are next
///
/// Whoever drives the simulation sets the time, which never goes back, and polls the ranks'
/// CommThreads (Options::is_polled). `on_due` says which rank has to be polled when: all messages
/// of a schedule's round have arrived, or a rest is over. Thread: one. Lifetime: outlives all that
/// uses it.
class SimulatedNetwork {
 public:
  SimulatedNetwork(int rank_count, NetworkModel& model)
      : rank_count_(rank_count), model_(model), receives_(static_cast<std::size_t>(rank_count)) {}
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

  int rank_count() const { return rank_count_; }
  NetworkModel& model() { return model_; }

  double now() const { return now_; }
  void set_now(double seconds) { now_ = seconds; }

  /// Called with the rank and the time at which it has to be polled. Empty: the driver polls
  /// everybody all the time.
  void on_due(std::function<void(int rank, double seconds)> call) { on_due_ = std::move(call); }
  void announce(int rank, double seconds) const {
    if (on_due_) on_due_(rank, seconds);
  }

  /// Fetches what a poll of the schedules of `rank` will look at into the caches.
  void prefetch_receives(int rank) const {
    const Receives& receives = receives_[static_cast<std::size_t>(rank)];
    constexpr std::size_t lines = 5;  // a port, and behind it the times and two short messages
    for (std::size_t i = 0; i < receives.count; ++i)
      for (std::size_t line = 0; line < lines; ++line)
        __builtin_prefetch(reinterpret_cast<const std::byte*>(receives.ports[i]) +
                           line * LinePool::line_bytes);
  }

  /// Messages that are started and not received.
  std::size_t in_flight() const;
  /// Those of them that belong to schedules, not to channels.
  std::size_t schedule_messages_in_flight() const;

 private:
  friend class SimulatedMessages;
  friend class SimulatedReduction;
  friend class SimulatedTransport;

  /// Receives of a round in progress: when its last message arrives, once all are under way.
  struct Arrivals {
    int missing = 0;
    double last = 0;
  };

  /// One direction between two ranks, for one tag of one space.
  struct Port {
    MessageRing messages;
    double last_arrival = 0;
    Arrivals* waiting = nullptr;  // for the next message
    SimulatedRoute route;
  };

  /// The first ports that a rank receives on, beside halos: of its tree.
  struct Receives {
    static constexpr std::size_t most = 3;
    std::array<Port*, most> ports{};
    std::size_t count = 0;
  };

  /// When the channels of one transport have to be looked at. Others' messages bring it forward.
  struct Look {
    double due = 0;
  };

  /// One direction of a channel's link. What every poll looks at lies in one cache line, and the
  /// messages follow: with thousands of ranks, nothing else of a wire is in the caches.
  struct alignas(64) Wire {
    static constexpr double never = std::numeric_limits<double>::infinity();

    Wire(const SimulatedRoute& its_route, LinePool& pool) : messages(pool), route(its_route) {}

    double next_arrival = never;  // of message number `released`
    double next_acknowledgement = never;  // of message number `acknowledged`
    std::uint64_t started = 0;
    std::uint64_t released = 0;
    std::uint64_t acknowledged = 0;
    double last_arrival = 0;
    double last_acknowledgement = 0;
    Look* sender = nullptr;

    MessageRing messages;  // kept until received and acknowledged
    Look* receiver = nullptr;
    SimulatedRoute route;
  };

  /// A round of an all-reduce of the network's own.
  struct Reduction {
    std::vector<double> values;
    int contributed = 0;
    double complete = 0;
  };

  struct Key {
    std::uint64_t space;
    std::uint64_t route;  // from and to
    std::uint64_t tag;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };

  void add_receive(int rank, Port& port);
  Port& port(std::uint64_t space, const SimulatedRoute& route, std::size_t bytes);
  Wire& wire(const SimulatedRoute& route, std::size_t bytes);
  Reduction& reduction(std::uint64_t space, std::uint64_t round, std::size_t count);
  static Key key(std::uint64_t space, const SimulatedRoute& route);

  int rank_count_;
  NetworkModel& model_;
  double now_ = 0;
  std::function<void(int, double)> on_due_;
  LinePool pool_;
  std::vector<Port*> ports_;  // in the pool, as the wires
  std::vector<Wire*> wires_;
  std::deque<Look> looks_;
  std::vector<Receives> receives_;  // of each rank
  std::unordered_map<Key, Port*, Hash> port_of_;
  std::unordered_map<Key, Wire*, Hash> wire_of_;
  std::unordered_map<Key, Reduction, Hash> reductions_;  // two rounds of each space at most
};

/// The clock of one simulated rank. Lifetime: inside that of the network.
class SimulatedClock final : public Clock {
 public:
  SimulatedClock(const SimulatedNetwork& network, int rank) : network_(network), rank_(rank) {}
  double seconds() const override { return network_.now(); }
  void wake_at(double seconds) const override { network_.announce(rank_, seconds); }

 private:
  const SimulatedNetwork& network_;
  int rank_;
};

}  // namespace weft::comm_thread
