#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "comm_thread/channels/transport.h"
#include "comm_thread/engine/clock.h"
#include "comm_thread/mpi/reduce_operation.h"
#include "comm_thread/simulation/fetch_queue.h"
#include "comm_thread/simulation/letter_queue.h"
#include "comm_thread/simulation/line_pool.h"
#include "comm_thread/simulation/message_ring.h"
#include "comm_thread/simulation/network_model.h"

namespace weft::comm_thread {

/// Consecutive ranks, from `begin` to below `end`.
struct RankRange {
  int begin = 0;
  int end = 0;
  bool contains(int rank) const { return begin <= rank && rank < end; }
};

/// The network between any number of ranks in one process, and its time.
///
///     SimulatedNetwork network(rank_count, model);
///     SimulatedSpace space(network, rank);          // what Communicator is to MPI
///     network.set_now(t); comm_thread.poll();       // for the rank and the time that are next
///
/// Whoever drives the simulation sets the time, which never goes back, and polls the ranks'
/// CommThreads (Options::is_polled). `on_due` says which rank has to be polled when: all messages
/// of a schedule's round have arrived, or a rest is over.
///
/// Several networks can share the ranks, each with a thread and a time of its own (NetworkGroup).
/// Messages to a node that hears from other networks, too, are then letters: its own network
/// delivers them in the order in which they were started, wherever that was.
/// Thread: one. Lifetime: outlives all that uses it.
class SimulatedNetwork {
 public:
  SimulatedNetwork(int rank_count, NetworkModel& model)
      : SimulatedNetwork(rank_count, model, {0, rank_count}) {}
  /// Of the ranks `own` alone.
  SimulatedNetwork(int rank_count, NetworkModel& model, RankRange own)
      : rank_count_(rank_count),
        model_(model),
        own_(own),
        receives_(static_cast<std::size_t>(own.end - own.begin)),
        hears_from_afar_(receives_.size()) {}
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

  int rank_count() const { return rank_count_; }
  const RankRange& own_ranks() const { return own_; }
  NetworkModel& model() { return model_; }

  double now() const { return now_; }
  void set_now(double seconds) {
    now_ = seconds;
    ++look_count_;
  }

  /// Called with the rank and the time at which it has to be polled. Empty: the driver polls
  /// everybody all the time.
  void on_due(std::function<void(int rank, double seconds)> call) { on_due_ = std::move(call); }
  void announce(int rank, double seconds) const {
    if (on_due_) on_due_(rank, seconds);
  }

  /// Memory that the network and its driver will look at. Calls of the transports fetch some.
  FetchQueue& fetches() { return fetches_; }

  /// Fetches what a poll of the schedules of `rank` will look at into the caches.
  void fetch_receives(int rank) {
    const Receives& receives = receives_[static_cast<std::size_t>(rank - own_.begin)];
    constexpr std::size_t lines = 4;  // a port, and behind it two short messages
    for (std::size_t i = 0; i < receives.count; ++i)
      for (std::size_t line = 0; line < lines; ++line)
        fetches_.add(reinterpret_cast<const std::byte*>(receives.ports[i]) +
                     line * LinePool::line_bytes);
  }

  /// Receives of a round in progress: when its last message arrives, once all are under way.
  struct Arrivals {
    int missing = 0;
    double last = 0;
  };

  /// One direction between a rank and its parent in a tree: one short message at a time.
  struct Edge {
    static constexpr double never = std::numeric_limits<double>::infinity();
    static constexpr std::size_t value_count = 2;
    static constexpr std::size_t bytes = value_count * sizeof(double);

    double arrival = never;  // of the message under way; set back by whoever takes it
    std::array<double, value_count> values{};
    Arrivals* waiting = nullptr;  // for it
    SimulatedRoute route;
  };

  /// Another network will send to `rank`, along an edge. Before the networks are joined.
  void expect_letters(int rank) {
    hears_from_afar_[static_cast<std::size_t>(rank - own_.begin)] = 1;
  }

  /// Sends `values` along `edge`, of which only the route is read where the destination belongs to
  /// another network.
  void send(Edge& edge, const std::array<double, Edge::value_count>& values);

  /// Messages that are started and not received.
  std::size_t in_flight() const;
  /// Those of them that belong to schedules, not to channels.
  std::size_t schedule_messages_in_flight() const;

 private:
  friend class SimulatedMessages;
  friend class SimulatedReduction;
  friend class SimulatedTransport;

  /// One direction between two ranks, for one tag of one space.
  struct Port {
    using Messages = MessageRing<0, 2 * sizeof(double)>;

    Messages messages;
    double last_arrival = 0;
    Arrivals* waiting = nullptr;  // for the next message
    Port* far = nullptr;  // at the destination, if that belongs to another network
    SimulatedRoute route;
  };

  /// The first ports that a rank receives on, beside halos: of its tree.
  struct Receives {
    static constexpr std::size_t most = 3;
    std::array<Port*, most> ports{};
    std::size_t count = 0;
  };

  /// One direction of a channel's link. What every poll looks at lies in one cache line.
  ///
  /// Between two networks it has two halves. That of the source keeps messages until they are
  /// acknowledged, that of the destination until they are released.
  struct alignas(64) Wire {
    static constexpr double never = std::numeric_limits<double>::infinity();
    /// The header of a message leaves room for its times.
    using Messages = MessageRing<sizeof(MessageHeader) - 2 * sizeof(double), 0>;
    static_assert(offsetof(MessageHeader, check) + 3 * sizeof(std::uint64_t) <=
                  sizeof(MessageHeader));

    Wire(const SimulatedRoute& its_route, LinePool& pool) : messages(pool), route(its_route) {}

    double next_arrival = never;  // of message number `released`
    double next_acknowledgement = never;  // of message number `acknowledged`
    std::uint32_t started = 0;
    std::uint32_t released = 0;
    std::uint32_t acknowledged = 0;
    std::uint32_t timed = 0;  // their arrival is known; of a half at the source, what it waits for
    double last_arrival = 0;
    double last_acknowledgement = 0;

    Messages messages;  // kept until received and acknowledged
    Wire* far = nullptr;  // the other half
    SimulatedRoute route;
    bool is_acknowledged_on_arrival = false;

    /// The wire and its first messages, which the pool has put behind it.
    std::span<const std::byte> memory(std::size_t message_bytes) const {
      return {reinterpret_cast<const std::byte*>(this),
              sizeof(Wire) + Messages::first_bytes(message_bytes)};
    }
  };
  static_assert(sizeof(Wire) == 128);

  /// Changes when channels have to be looked at again: with each event, and when something that
  /// arrives at once is sent.
  std::uint64_t look_count() const { return look_count_; }
  void look_again_if_due(double seconds) { look_count_ += seconds <= now_; }

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

  friend class NetworkGroup;

  /// Networks that share the ranks: each is told of the others, after all ranks have prepared
  /// their messages and before the first is sent. `most_bytes`: of any message.
  void join(std::span<SimulatedNetwork* const> networks, std::size_t place, std::size_t most_bytes);
  std::size_t most_bytes() const { return most_bytes_; }
  /// True if messages on `route` have to be letters.
  bool writes_letters(const SimulatedRoute& route) const {
    if (letters_to_.empty() || model_.is_within_node(route)) return false;
    return !own_.contains(route.to) ||
           hears_from_afar_[static_cast<std::size_t>(route.to - own_.begin)] != 0;
  }
  /// Marks all ranks of nodes that hear from other networks.
  void spread_to_nodes();
  std::size_t place_of(int rank) const;

  /// Sends message number `number` of `wire`, whose payload is written.
  void start(Wire& wire, std::uint64_t number, std::size_t bytes);
  /// Sends the message of `bytes` that is written to the end of `port`.
  void start(Port& port, std::size_t bytes);
  void set_arrival(Wire& wire, std::size_t bytes, double departed);
  void set_arrival(Port& port, std::size_t bytes, double departed);
  void set_arrival(Edge& edge, double departed);
  /// A message to `rank` arrives at that time: tells whom it waits for.
  void note_arrival(Arrivals*& waiting, int rank, double arrival) const;
  /// Message number `number` is known at its source to have been received.
  void acknowledge(Wire& wire, std::uint64_t number, double seconds);

  /// The letter to deliver next: the one that was started first. Null: there is none.
  Letter* first_letter();
  /// Delivers the first letter.
  void deliver_first();
  /// True if other networks have sent letters or acknowledgements.
  bool has_mail() const;
  /// Takes the acknowledgements that other networks have sent.
  void take_receipts();
  void write_letter(const SimulatedRoute& route, std::size_t bytes, void* target, Letter::Kind kind,
                    const std::byte* payload);

  void add_receive(int rank, Port& port);
  Port& port(std::uint64_t space, const SimulatedRoute& route, std::size_t bytes);
  Wire& wire(const SimulatedRoute& route, std::size_t bytes);
  Reduction& reduction(std::uint64_t space, std::uint64_t round, std::size_t count);
  static Key key(std::uint64_t space, const SimulatedRoute& route);

  int rank_count_;
  NetworkModel& model_;
  RankRange own_;
  double now_ = 0;
  std::uint64_t look_count_ = 1;
  std::function<void(int, double)> on_due_;
  FetchQueue fetches_;
  LinePool pool_;
  std::vector<Port*> ports_;  // in the pool, as the wires
  std::vector<Wire*> wires_;
  std::vector<Receives> receives_;  // of each of its ranks
  std::size_t most_bytes_ = Edge::bytes;
  // Of networks that share the ranks.
  std::vector<SimulatedNetwork*> networks_;
  std::size_t place_ = 0;  // among them
  std::vector<std::unique_ptr<LetterQueue>> letters_to_;  // each of them, this one too
  std::vector<std::unique_ptr<LetterQueue>> receipts_to_;
  std::vector<unsigned char> hears_from_afar_;  // its ranks: another network sends to their node
  double first_to_itself_ = std::numeric_limits<double>::infinity();  // letter since the last look
  double silent_until_ = 0;  // to other networks
  std::deque<double> unreceived_;  // when messages of wires to other networks were started
  std::size_t first_from_ = 0;  // whom `first_letter` came from
  std::uint64_t sent_count_ = 0;  // letters and receipts to other networks
  std::uint64_t taken_count_ = 0;
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
