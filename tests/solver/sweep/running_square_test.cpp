#include "solver/sweep/running_square.h"

#include <limits>

#include <catch2/catch.hpp>

#include "comm_thread/placement/compute_team.h"

namespace weft::solver {
namespace {

TEST_CASE("the sum is below the threshold when the last parts of all threads are") {
  RunningSquare sum(3, 1);
  sum.contribute(0, 0.5);
  sum.contribute(1, 100);
  CHECK_FALSE(sum.contribute(2, 0.25));
  CHECK(sum.contribute(1, 0.2));
  CHECK_FALSE(sum.contribute(1, 0.25));
  CHECK(sum.contribute(2, 0));
}

TEST_CASE("the sum does not drift: values far above the threshold, or no numbers, leave no trace") {
  RunningSquare sum(2, 1e-30);
  sum.contribute(0, 0.9e-30);
  for (const double large : {1.0, 1e300, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_FALSE(sum.contribute(1, large));
    CHECK_FALSE(sum.contribute(0, large));
    CHECK_FALSE(sum.contribute(0, 0.9e-30));
    CHECK(sum.contribute(1, 0));
  }
}

TEST_CASE("a threshold of 0 is only ever met by 0") {
  RunningSquare sum(1, 0);
  CHECK_FALSE(sum.contribute(0, 1e-300));
  CHECK(sum.contribute(0, 0));
}

TEST_CASE("no contribution of threads that run at the same time is lost") {
  constexpr int thread_count = 4;
  RunningSquare sum(thread_count, 1e-14);
  comm_thread::ComputeTeam(thread_count, comm_thread::WaitPolicy::yield)
      .run([&](const comm_thread::TeamThread& thread) {
        thread.barrier();
        for (int i = 1; i <= 100'000; ++i) sum.contribute(thread.index, 1.0 / i);
        sum.contribute(thread.index, 0.24e-14);
      });
  CHECK(sum.contribute(0, 0.24e-14));
  CHECK_FALSE(sum.contribute(0, 0.3e-14));
}

}  // namespace
}  // namespace weft::solver
