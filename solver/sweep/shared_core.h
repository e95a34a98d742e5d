#pragma once

#include <cstdint>
#include <utility>

#include "comm_thread/waiting/team_barrier.h"

namespace weft::solver {

/// Lets other ranks run between two asynchronous sweeps, where ranks share cores: they cannot
/// answer while this one sweeps on.
///
/// Measured on two cores with tiny sweeps: without it four ranks take 1.5 to 3 times as long. A
/// yield or a nap every 0.2 or 1 ms instead is as good there, but with eight ranks of two threads
/// such runs then take up to a minute instead of a second now and then: those who wait in a barrier
/// yield more often, and Linux takes running time from them for it (see `relax`).
///
/// Sweeps without a message from anybody are mostly in vain and only keep the neighbours from
/// sending: after 200 of them the rank naps before each. Without it, four ranks over
/// `one-sided:flush` on two cores made up to 935505 sweeps where 455 do.
class SharedCore {
 public:
  /// `message_count`: that the rank has received so far. Thread: the primary thread, after a sweep.
  void let_others_run(std::uint64_t message_count) {
    const bool is_fruitful = message_count != std::exchange(seen_message_count_, message_count);
    fruitless_count_ = is_fruitful ? 0 : fruitless_count_ + 1;
    comm_thread::yield_core();
    comm_thread::relax(comm_thread::WaitPolicy::yield, fruitless_count_ / sweeps_a_round);
  }

 private:
  /// Fruitless sweeps that count as one fruitless look: a rank naps after 200 of them.
  static constexpr std::uint64_t sweeps_a_round = 10;

  std::uint64_t seen_message_count_ = 0;  // when this rank last looked
  std::uint64_t fruitless_count_ = 0;  // sweeps since a message came
};

}  // namespace weft::solver
