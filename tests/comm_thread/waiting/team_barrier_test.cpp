#include "comm_thread/waiting/team_barrier.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

void run_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
}

TEST_CASE("nobody passes the barrier before all have arrived, again and again") {
  for (const WaitPolicy policy : {WaitPolicy::spin, WaitPolicy::yield})
    for (const int count : {1, 2, 3}) {
      CAPTURE(count);
      TeamBarrier barrier(count, policy);
      std::vector<int> rounds(static_cast<std::size_t>(count), 0);  // plain: the barrier orders it
      std::atomic<int> wrong{0};
      run_threads(count, [&](int index) {
        for (int round = 1; round <= 300; ++round) {
          rounds[static_cast<std::size_t>(index)] = round;
          barrier.arrive_and_wait();
          wrong += std::ranges::count(rounds, round) != count;
          barrier.arrive_and_wait();
        }
      });
      CHECK(wrong == 0);
    }
}

TEST_CASE("a broken barrier releases who waits and whoever comes later") {
  TeamBarrier barrier(3, WaitPolicy::yield);
  std::atomic<int> released{0};
  run_threads(3, [&](int index) {
    if (index == 0) return barrier.break_up();
    try {
      barrier.arrive_and_wait();
    } catch (const TeamBroken&) {
      ++released;
    }
  });
  CHECK(released == 2);
}

}  // namespace
}  // namespace weft::comm_thread
