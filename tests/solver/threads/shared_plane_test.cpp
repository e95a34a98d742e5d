#include "solver/threads/shared_plane.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/placement/compute_team.h"

namespace weft::solver {
namespace {

using comm_thread::Delivery;

TEST_CASE("a plane taken is the newest published, row by row") {
  const Delivery delivery = GENERATE(Delivery::async, Delivery::racy);
  SharedPlane plane(delivery, 3, 2);
  std::vector<double> taken(10, -1);
  CHECK(plane.take(taken.data(), 5) == 0);
  CHECK(taken == std::vector<double>{0, 0, 0, -1, -1, 0, 0, 0, -1, -1});
  const std::vector<double> made{1, 2, 3, 9, 4, 5, 6, 9};
  plane.publish(made.data(), 4, 7);
  CHECK(plane.take(taken.data(), 5) == 7);
  CHECK(taken == std::vector<double>{1, 2, 3, -1, -1, 4, 5, 6, -1, -1});
}

/// One thread publishes planes filled with the number of the sweep while another takes them.
template <class Check>
void publish_and_take(Delivery delivery, const Check& check) {
  constexpr std::int64_t sweep_count = 20'000;
  constexpr std::size_t size = 40;
  SharedPlane plane(delivery, size, size);
  comm_thread::ComputeTeam(2, comm_thread::WaitPolicy::yield)
      .run([&](const comm_thread::TeamThread& thread) {
        std::vector<double> values(size * size);
        if (thread.is_primary()) {
          for (std::int64_t sweep = 1; sweep <= sweep_count; ++sweep) {
            std::fill(values.begin(), values.end(), static_cast<double>(sweep));
            plane.publish(values.data(), size, sweep);
          }
        } else {
          for (std::int64_t last = 0; last < sweep_count;) {
            const std::int64_t sweep = plane.take(values.data(), size);
            check(last, sweep, values);
            last = sweep;
          }
        }
      });
}

TEST_CASE("async: a plane is of one sweep, and none is older than the one before") {
  std::int64_t torn_count = 0;
  std::int64_t older_count = 0;
  publish_and_take(Delivery::async,
                   [&](std::int64_t last, std::int64_t sweep, const std::vector<double>& values) {
                     const auto expected = static_cast<double>(sweep);
                     torn_count += !std::all_of(values.begin(), values.end(),
                                                [=](double x) { return x == expected; });
                     older_count += sweep < last;
                   });
  CHECK(torn_count == 0);
  CHECK(older_count == 0);
}

TEST_CASE("racy: elements are whole and at least as new as the sweep says") {
  std::int64_t wrong_count = 0;
  std::int64_t older_count = 0;
  publish_and_take(Delivery::racy,
                   [&](std::int64_t last, std::int64_t sweep, const std::vector<double>& values) {
                     for (const double x : values) {
                       wrong_count += x != static_cast<double>(static_cast<std::int64_t>(x));
                       older_count += x < static_cast<double>(sweep);
                     }
                     older_count += sweep < last;
                   });
  CHECK(wrong_count == 0);
  CHECK(older_count == 0);
}

}  // namespace
}  // namespace weft::solver
