#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/simulation/network_model.h"
#include "comm_thread/simulation/simulated_network.h"

namespace weft::comm_thread {

/// Networks that share the ranks of a simulation, each with a thread and a time of its own.
///
///     network 0   | done … 7.1 |  sends nothing to others before 8.4
///     network 1   | done …           9.0 |→ may go to 8.4 + lookahead
///
/// No letter arrives sooner than `lookahead` seconds after it was started, and a message's
/// acknowledgement not within twice that time. So each network may go ahead as far as the others
/// have promised to send it nothing, and letters are delivered in the order in which they were
/// started: the results are the same for any number of networks.
/// Source: Chandy, Misra 1979, "Distributed simulation"; their null messages are the clocks here.
///
/// Memory ordering: a network's clock is stored with release after all letters that were started
/// before it, and loaded with acquire before the letters are looked for; so is the time up to which
/// it has delivered, after the acknowledgements of that.
/// Thread: `promise`, `look` and `is_over` from that of the network, everything else before the
/// threads start or after they end.
class NetworkGroup {
 public:
  /// `ranges`: of the networks, ascending, all ranks once. Ranks of one node are on one network.
  NetworkGroup(int rank_count, NetworkModel& model, std::span<const RankRange> ranges,
               double lookahead);

  std::size_t size() const { return members_.size(); }
  SimulatedNetwork& network(std::size_t i) { return members_[i]->network; }

  /// After all ranks have prepared their messages, and before the first is sent.
  void join();

  /// Network `i` sends no letter to others before `bound`; one that it sends all the same is an
  /// error.
  void promise(std::size_t i, double bound) {
    Member& member = *members_[i];
    if (bound <= member.network.silent_until_) return;
    member.network.silent_until_ = bound;
    member.clock.store(bound, std::memory_order_release);
  }

  /// Nothing that others send, and that network `i` does not know yet, arrives before this time.
  double earliest_arrival(std::size_t i) const { return members_[i]->earliest_arrival; }

  /// No other network does anything before this time, unless it is asked to.
  double others_now(std::size_t i) const { return members_[i]->others_now; }

  /// Events of network `i` may happen before this time: nothing can come to it earlier. It falls
  /// when the network sends letters.
  double horizon(std::size_t i) const {
    const Member& member = *members_[i];
    const SimulatedNetwork& network = member.network;
    const double acknowledged =
        network.unreceived_.empty() ? infinity : network.unreceived_.front() + 2 * lookahead_;
    return std::min({member.earliest_arrival, network.first_to_itself_ + lookahead_, acknowledged});
  }

  /// Delivers what the others have sent, as far as its order is certain. `next()`: the time of the
  /// network's next event, which deliveries can bring forward. Moves the horizon.
  template <class Next>
  void look(std::size_t i, const Next& next) {
    Member& member = *members_[i];
    SimulatedNetwork& network = member.network;
    if (size() == 1) {
      member.earliest_arrival = infinity;
      return;
    }
    const double seen = least_of_others(i, &Member::clock);
    const double delivered = least_of_others(i, &Member::delivered);
    member.others_now = delivered;
    if (network.has_mail()) wake(member);
    network.take_receipts();
    while (!network.unreceived_.empty() && network.unreceived_.front() < delivered)
      network.unreceived_.pop_front();
    double oldest = infinity;
    while (const Letter* const letter = network.first_letter()) {
      if (letter->started >= std::min(seen, next())) {
        oldest = letter->started;
        break;
      }
      network.deliver_first();
    }
    member.has_letters = oldest < infinity;
    member.delivered.store(std::min(seen, next()), std::memory_order_release);
    network.first_to_itself_ = infinity;  // or it is the oldest
    member.earliest_arrival = std::min(seen, oldest) + lookahead_;
  }

  /// True if no network has events, nor will get any. Called when `i` has none.
  bool is_over(std::size_t i);

  /// Beside letters, networks may ask each other for events: such requests are counted here, when
  /// they are made and when they are served.
  void count_request(std::size_t i) { members_[i]->requests += size() - 1; }
  void count_service(std::size_t i) {
    wake(*members_[i]);
    ++members_[i]->services;
  }

  /// Delivers everything that is on its way, whatever its time.
  void deliver_all();

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  struct Member {
    Member(int rank_count, NetworkModel& model, RankRange own) : network(rank_count, model, own) {}

    SimulatedNetwork network;
    double earliest_arrival = 0;  // as of the last look
    double others_now = 0;
    bool has_letters = false;  // undelivered
    std::uint64_t requests = 0;
    std::uint64_t services = 0;
    alignas(64) std::atomic<double> clock{0};  // nothing is sent to others before
    std::atomic<double> delivered{0};  // all letters that were started before
    alignas(64) std::atomic<bool> is_idle{false};
    std::atomic<std::uint64_t> sent{0};  // as it was when it became idle
    std::atomic<std::uint64_t> taken{0};
  };

  /// Before it takes anything.
  static void wake(Member& member) {
    if (member.is_idle.load(std::memory_order_relaxed)) member.is_idle.store(false);
  }

  double least_of_others(std::size_t i, std::atomic<double> Member::* time) const {
    double least = infinity;
    for (std::size_t other = 0; other < members_.size(); ++other)
      if (other != i)
        least = std::min(least, (*members_[other].*time).load(std::memory_order_acquire));
    return least;
  }

  /// What all have taken, if all are idle and it is what all have sent; otherwise the largest
  /// number.
  std::uint64_t quiet_count() const;

  double lookahead_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace weft::comm_thread
