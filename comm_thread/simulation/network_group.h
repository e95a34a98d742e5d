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
///     network 0   | done … 7.1 |→ may go to 9.0 + lookahead
///     network 1   | done …       9.0 |→ may go to 7.1 + lookahead
///
/// Nothing that happens on one network matters on another one sooner than `lookahead` seconds
/// later. So each may go ahead of the slowest of the others by that much, and letters are delivered
/// in the order in which they were started: the results are the same for any number of networks.
/// Source: Chandy, Misra 1979, "Distributed simulation"; their null messages are the clocks here.
///
/// Memory ordering: a network's clock is stored with release after all letters that were started
/// before it, and loaded with acquire before the letters are looked for.
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

  /// Network `i` does nothing more before `next`, the time of its next event, unless another one
  /// asks it to.
  void promise(std::size_t i, double next) {
    Member& member = *members_[i];
    member.clock.store(std::min(next, horizon(i)), std::memory_order_release);
  }

  /// Events of network `i` may happen before this time: nothing can come to it earlier. It falls
  /// when the network sends letters to itself.
  double horizon(std::size_t i) const {
    const Member& member = *members_[i];
    return std::min(member.horizon, member.network.first_to_itself_ + lookahead_);
  }

  /// Delivers what the others have sent, as far as its order is certain. `next()`: the time of the
  /// network's next event, which deliveries can bring forward. Moves the horizon.
  template <class Next>
  void look(std::size_t i, const Next& next) {
    Member& member = *members_[i];
    if (size() == 1) {
      member.horizon = infinity;
      return;
    }
    const double seen = slowest_of_others(i);
    if (member.network.has_mail()) wake(member);
    member.network.take_receipts();
    double oldest = infinity;
    while (const Letter* const letter = member.network.first_letter()) {
      if (letter->started >= std::min(seen, next())) {
        oldest = letter->started;
        break;
      }
      member.network.deliver_first();
    }
    member.has_letters = oldest < infinity;
    member.network.first_to_itself_ = infinity;  // or it is the oldest
    member.horizon = std::min(seen, oldest) + lookahead_;
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
    double horizon = 0;  // as of the last look
    bool has_letters = false;  // undelivered
    std::uint64_t requests = 0;
    std::uint64_t services = 0;
    alignas(64) std::atomic<double> clock{0};  // nothing is sent before
    alignas(64) std::atomic<bool> is_idle{false};
    std::atomic<std::uint64_t> sent{0};  // as it was when it became idle
    std::atomic<std::uint64_t> taken{0};
  };

  /// Before it takes anything.
  static void wake(Member& member) {
    if (member.is_idle.load(std::memory_order_relaxed)) member.is_idle.store(false);
  }

  double slowest_of_others(std::size_t i) const {
    double slowest = infinity;
    for (std::size_t other = 0; other < members_.size(); ++other)
      if (other != i)
        slowest = std::min(slowest, members_[other]->clock.load(std::memory_order_acquire));
    return slowest;
  }

  /// What all have taken, if all are idle and it is what all have sent; otherwise the largest
  /// number.
  std::uint64_t quiet_count() const;

  double lookahead_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace weft::comm_thread
