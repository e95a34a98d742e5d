#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <catch2/catch.hpp>

#include "comm_thread/engine/reproducible_sum.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::comm_thread {
namespace {

constexpr std::int64_t term_count = 60;

/// Large and small numbers of both signs that lose much where they are added in double precision.
double term(std::int64_t i, int scalar, int run) {
  const auto bits = static_cast<std::uint64_t>(i + 100 * scalar + 1000 * run + 1) *
                    std::uint64_t{0x9e3779b97f4a7c15};
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)),
                    static_cast<int>(bits % 97) - 48);
}

double serial_sum(int scalar, int run) {
  ExactAccumulator sum;
  for (std::int64_t i = 0; i < term_count; ++i) sum.add(term(i, scalar, run));
  return sum.rounded();
}

bool is_same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

TEST_CASE("sums over all threads of all ranks have the bits of the serial sum") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), WaitPolicy::yield);
  const int workers = world.size() * team.thread_count();
  const int runs = workers <= 4 ? 1000 : workers <= 8 ? 40 : 4;  // few cores, many threads
  for (const ThreadLevel level : {tests::session().thread_level(), ThreadLevel::serialized})
    for (const int scalars : {1, 3}) {
      CommThread comm_thread({.thread_level = level});
      ReproducibleSum sums(world, comm_thread, team.thread_count(), scalars);
      std::atomic<int> wrong{0};
      team.run([&](const TeamThread& thread) {
        const int worker = world.rank() * team.thread_count() + thread.index;
        for (int run = 0; run < runs; ++run) {
          for (int scalar = 0; scalar < scalars; ++scalar)
            for (std::int64_t i = worker; i < term_count; i += workers)
              sums.part(thread.index, scalar).add(term(i, scalar, run));
          sums.collective_reduce(thread);
          for (int scalar = 0; scalar < scalars; ++scalar)
            wrong += !is_same(sums.result(scalar), serial_sum(scalar, run));
        }
      });
      CHECK(wrong == 0);
    }
}

TEST_CASE("a NaN or an infinity on one rank is in the sum of all") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), WaitPolicy::yield);
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  ReproducibleSum sums(world, comm_thread, team.thread_count(), 2);
  for (int culprit = 0; culprit < world.size(); ++culprit) {
    team.run([&](const TeamThread& thread) {
      sums.part(thread.index, 0).add(1);
      sums.part(thread.index, 1).add(-1);
      if (world.rank() == culprit && thread.is_primary()) {
        sums.part(0, 0).add(std::numeric_limits<double>::quiet_NaN());
        sums.part(0, 1).add(-std::numeric_limits<double>::infinity());
      }
      sums.collective_reduce(thread);
    });
    CHECK(std::isnan(sums.result(0)));
    CHECK(sums.result(1) == -std::numeric_limits<double>::infinity());
  }
  team.run([&](const TeamThread& thread) {
    sums.part(thread.index, 0).add(0.25);
    sums.collective_reduce(thread);
  });
  CHECK(sums.result(0) == 0.25 * world.size() * team.thread_count());
  CHECK(sums.result(1) == 0);
}

}  // namespace
}  // namespace weft::comm_thread
