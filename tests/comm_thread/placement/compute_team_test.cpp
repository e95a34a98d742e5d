#include "comm_thread/placement/compute_team.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

TEST_CASE("shares tile what is shared and differ by at most one") {
  for (const std::int64_t count : {0, 1, 5, 12, 1000000007})
    for (const int threads : {1, 2, 3, 7}) {
      CAPTURE(count, threads);
      std::int64_t end = 0;
      for (int index = 0; index < threads; ++index) {
        const Share share = share_of(count, index, threads);
        CHECK(share.begin == end);
        CHECK(share.end - share.begin >= count / threads);
        CHECK(share.end - share.begin <= count / threads + 1);
        end = share.end;
      }
      CHECK(end == count);
    }
}

TEST_CASE("work runs once in every thread, for teams of different sizes in turn") {
  for (const int count : {1, 3, 2, 4, 1, 2}) {
    CAPTURE(count);
    const ComputeTeam team(count, WaitPolicy::yield);
    CHECK(team.thread_count() == count);
    std::vector<int> calls(static_cast<std::size_t>(count), 0);
    team.run([&](const TeamThread& thread) {
      calls[static_cast<std::size_t>(thread.index)] += thread.count == count ? 1 : 100;
    });
    CHECK(calls == std::vector<int>(static_cast<std::size_t>(count), 1));
  }
}

TEST_CASE("what the caller wrote is seen by the team and the other way round") {
  const ComputeTeam team(2, WaitPolicy::yield);
  std::vector<int> numbers(2, 0);
  int wrong = 0;
  for (int round = 1; round <= 200; ++round) {
    numbers.assign(2, round);
    team.run([&](const TeamThread& thread) {
      numbers[static_cast<std::size_t>(thread.index)] += round;
      thread.barrier();
      // Each thread reads the other's values.
      if (numbers[static_cast<std::size_t>(1 - thread.index)] != 2 * round)
        throw std::logic_error("not seen");
    });
    wrong += numbers != std::vector<int>(2, 2 * round);
  }
  CHECK(wrong == 0);
}

TEST_CASE("the thread that called is the primary one") {
  const ComputeTeam team(3, WaitPolicy::yield);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> primary_count{0};
  std::atomic<bool> is_caller{false};
  team.run([&](const TeamThread& thread) {
    if (!thread.is_primary()) return;
    ++primary_count;
    is_caller = std::this_thread::get_id() == caller;
  });
  CHECK(primary_count == 1);
  CHECK(is_caller);
}

TEST_CASE("every thread is started once with its index") {
  std::vector<int> started(3, 0);
  const ComputeTeam team(3, WaitPolicy::yield,
                         [&](int index) { ++started[static_cast<std::size_t>(index)]; });
  CHECK(started == std::vector<int>(3, 1));
  team.run([](const TeamThread&) {});
  CHECK(started == std::vector<int>(3, 1));
}

TEST_CASE("an exception in any thread reaches the caller and releases the others") {
  for (const int count : {1, 2, 3})
    for (int thrower = 0; thrower < count; ++thrower) {
      CAPTURE(count, thrower);
      const ComputeTeam team(count, WaitPolicy::yield);
      std::atomic<int> passed{0};
      CHECK_THROWS_WITH(team.run([&](const TeamThread& thread) {
        thread.barrier();
        if (thread.index == thrower)
          throw std::runtime_error("thread " + std::to_string(thrower) + " failed");
        thread.barrier();
        ++passed;
      }),
                        "thread " + std::to_string(thrower) + " failed");
      CHECK(passed == 0);
      std::atomic<int> works_again{0};
      team.run([&](const TeamThread& thread) {
        thread.barrier();
        ++works_again;
      });
      CHECK(works_again == count);
    }
}

}  // namespace
}  // namespace weft::comm_thread
