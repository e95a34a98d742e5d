#include "solver/simulation/event_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>

#include <catch2/catch.hpp>

namespace weft::solver {
namespace {

bool are_equal(const EventQueue::Event& a, const EventQueue::Event& b) {
  return !(a < b) && !(b < a);
}

/// Pushes `count` events that follow each other by `step(random)`, and pops as many.
template <class Step>
void check_order(std::uint32_t count, const Step& step) {
  std::mt19937 random(count);
  EventQueue queue;
  std::multiset<EventQueue::Event> reference;
  const auto push = [&](double seconds, std::uint32_t rank) {
    const auto kind = rank % 3 == 0 ? EventQueue::Kind::poll : EventQueue::Kind::step;
    queue.push({seconds, rank, kind});
    reference.insert({seconds, rank, kind});
  };
  for (std::uint32_t rank = 0; rank < count; ++rank) push(0, (rank * 7) % count);
  int wrong_count = 0;
  for (std::uint32_t left = 20 * count; !reference.empty(); left -= left > 0) {
    const EventQueue::Event next = queue.next();
    wrong_count += !are_equal(next, *reference.begin());
    std::size_t ahead = 0;
    for (auto at = reference.begin(); at != reference.end() && queue.upcoming(ahead); ++at)
      wrong_count += !are_equal(*queue.upcoming(ahead++), *at);
    wrong_count += ahead < std::min(reference.size(), EventQueue::known_ahead);
    queue.pop();
    reference.erase(reference.begin());
    if (left > 0) push(next.seconds + step(random), next.rank);
  }
  CHECK(queue.is_empty());
  CHECK(wrong_count == 0);
}

}  // namespace

TEST_CASE("events come in the order of time, then rank, however far they were ahead") {
  for (const std::uint32_t count : {1U, 5U, 40U, 700U}) {
    check_order(count, [](std::mt19937& random) {
      return 1e-3 + 1e-6 * static_cast<double>(random() % 100);
    });
    check_order(count, [](std::mt19937& random) {  // most are near, some very far
      return random() % 50 == 0 ? 5.0 : 1e-6 * static_cast<double>(random() % 8);
    });
    check_order(count, [](std::mt19937&) { return 1.0; });  // all at the same times
    check_order(count, [](std::mt19937&) { return 0.0; });
  }
}

}  // namespace weft::solver
