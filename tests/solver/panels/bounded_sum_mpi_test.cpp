#include <cmath>
#include <cstdint>
#include <limits>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/panels/bounded_sum.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;

constexpr std::int64_t addend_count = 60;

/// Numbers of both signs below 1/60, some of them tiny.
double addend(std::int64_t i, int scalar) {
  return std::sin(static_cast<double>(7 * i + scalar)) *
         std::ldexp(1.0 / 64, -(static_cast<int>(i) % 40));
}

TEST_CASE("bounded sums have the bits of one thread, and almost those of an exact sum",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  const int workers = world.size() * team.thread_count();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  const Communicator alone = Communicator::self();
  const ComputeTeam one(1, comm_thread::WaitPolicy::yield);
  BoundedSum sums(world, comm_thread, team.thread_count(), 3);
  BoundedSum serial(alone, comm_thread, 1, 3);
  for (int run = 0; run < 3; ++run) {
    one.run([&](const TeamThread& thread) {
      for (std::int64_t i = 0; i < addend_count; ++i)
        for (std::size_t scalar = 0; scalar < 3; ++scalar)
          serial.part(0).add(scalar, addend(i, static_cast<int>(scalar) + run));
      serial.collective_reduce(thread);
    });
    team.run([&](const TeamThread& thread) {
      for (std::int64_t i = world.rank() * team.thread_count() + thread.index; i < addend_count;
           i += workers)
        for (std::size_t scalar = 0; scalar < 3; ++scalar)
          sums.part(thread.index).add(scalar, addend(i, static_cast<int>(scalar) + run));
      sums.collective_reduce(thread);
    });
    for (int scalar = 0; scalar < 3; ++scalar) {
      comm_thread::ExactAccumulator exact;
      for (std::int64_t i = 0; i < addend_count; ++i) exact.add(addend(i, scalar + run));
      CHECK(sums.result(scalar) == serial.result(scalar));
      CHECK(std::abs(sums.result(scalar) - exact.rounded()) <= 0x1p-56);
    }
  }
}

TEST_CASE("a bounded sum keeps what is small beside its addends", "[collective]") {
  const auto& world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  BoundedSum sums(world, comm_thread, team.thread_count(), 1);
  team.run([&](const TeamThread& thread) {
    sums.part(thread.index).add(0, 0.5);
    sums.part(thread.index).add(0, -0.5);
    if (thread.is_primary() && world.rank() == world.size() - 1)
      sums.part(thread.index).add(0, 0x1p-80);
    sums.collective_reduce(thread);
  });
  CHECK(sums.result(0) == 0x1p-80);
}

TEST_CASE("an addend that is too large or no number spoils all sums, and only once",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  BoundedSum sums(world, comm_thread, team.thread_count(), 2);
  for (const double fault : {3.0, std::numeric_limits<double>::quiet_NaN()}) {
    team.run([&](const TeamThread& thread) {
      if (thread.is_primary() && world.rank() == world.size() - 1) sums.part(0).add(1, fault);
      sums.collective_reduce(thread);
    });
    CHECK(std::isnan(sums.result(0)));
    CHECK(std::isnan(sums.result(1)));
    team.run([&](const TeamThread& thread) {
      if (thread.is_primary() && world.rank() == 0) sums.part(0).add(1, 0.75);
      sums.collective_reduce(thread);
    });
    CHECK(sums.result(0) == 0);
    CHECK(sums.result(1) == 0.75);
  }
}

}  // namespace
}  // namespace weft::solver
