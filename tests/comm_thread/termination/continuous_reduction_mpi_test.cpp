#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/termination/continuous_reduction.h"
#include "tests/support/mpi_main.h"

namespace weft::comm_thread {
namespace {

using Engine = ContinuousReduction::Engine;
using Result = ContinuousReduction::Result;

/// Every engine, with and without a communication thread.
template <class Check>
void in_every_way(const Check& check) {
  for (const Engine engine : {Engine::tree, Engine::library})
    for (const ThreadLevel level : {tests::session().thread_level(), ThreadLevel::serialized}) {
      CommThread comm_thread({.thread_level = level});
      check(comm_thread, engine);
    }
}

void wait_until_stopped(CommThread& comm_thread, const ContinuousReduction& reduction) {
  comm_thread.wait_for(
      [&] {
        reduction.rethrow_error();
        return reduction.is_stopped();
      },
      [] { return std::string("continuous reduction"); });
}

/// Registered for as long as it lives.
class Registration {
 public:
  Registration(CommThread& comm_thread, Service& service)
      : comm_thread_(comm_thread), service_(service) {
    comm_thread_.add_service(service_);
  }
  ~Registration() { comm_thread_.remove_service(service_); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  CommThread& comm_thread_;
  Service& service_;
};

std::int64_t hash(const std::vector<double>& values) {
  std::uint64_t hash = 0;
  for (const double value : values)
    hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * std::uint64_t{0x100000001b3};
  return static_cast<std::int64_t>(hash);
}

TEST_CASE("all ranks see the same results in the same rounds while contributions change") {
  const auto world = Communicator::collective_world();
  in_every_way([&](CommThread& comm_thread, Engine engine) {
    constexpr std::uint64_t last_round = 150;
    std::vector<double> seen;  // written on the communication thread until the stop
    ContinuousReduction reduction(
        world, comm_thread,
        {.operations = {ReduceOperation::sum, ReduceOperation::max, ReduceOperation::min},
         .engine = engine,
         .stops_after = [&](const Result& result) {
           seen.insert(seen.end(), result.values.begin(), result.values.end());
           return result.round == last_round;
         }});
    const Registration registration(comm_thread, reduction);
    reduction.resume();
    double step = 0;
    while (!reduction.is_stopped()) {
      ++step;  // fractions whose sum depends on the order, growing on every rank
      const double value = step * (1 + world.rank()) / 3;
      reduction.contribute(std::array{value, value, -value});
      comm_thread.progress_services_here();
      relax(WaitPolicy::yield, static_cast<std::uint64_t>(step));
    }
    CHECK(seen.size() == 3 * last_round);
    CHECK(reduction.newest().round == last_round);
    int falling = 0;
    for (std::size_t i = 3; i < seen.size(); i += 3)
      falling += seen[i] < seen[i - 3] || seen[i + 1] < seen[i - 2] || seen[i + 2] > seen[i - 1];
    CHECK(falling == 0);
    CHECK(world.min(hash(seen)) == world.max(hash(seen)));
  });
}

TEST_CASE("the newest contribution of every rank comes through, though one contributes only once") {
  const auto world = Communicator::collective_world();
  in_every_way([&](CommThread& comm_thread, Engine engine) {
    const auto size = static_cast<double>(world.size());
    const double expected = size * (size + 1) / 2;
    ContinuousReduction reduction(
        world, comm_thread,
        {.operations = {ReduceOperation::sum, ReduceOperation::max, ReduceOperation::sum},
         .engine = engine,
         .stops_after = [&](const Result& result) {
           return result.values[0] == expected && result.values[2] == size && result.round > 20;
         }});
    const Registration registration(comm_thread, reduction);
    const double wanted = world.rank() + 1;
    if (world.rank() == 0) reduction.contribute(std::array{wanted, wanted, 1.0});
    reduction.resume();
    for (int i = 30; world.rank() != 0 && i >= 0; --i)
      reduction.contribute(std::array{wanted + i, wanted + i, 1.0});
    wait_until_stopped(comm_thread, reduction);
    CHECK(reduction.newest().values == std::vector{expected, size, size});
  });
}

TEST_CASE("a stopped reduction is still, and goes on after all have resumed it") {
  const auto world = Communicator::collective_world();
  in_every_way([&](CommThread& comm_thread, Engine engine) {
    ContinuousReduction reduction(
        world, comm_thread,
        {.operations = {ReduceOperation::max},
         .engine = engine,
         .stops_after = [](const Result& result) { return result.round % 5 == 0; }});
    const Registration registration(comm_thread, reduction);
    CHECK(reduction.is_stopped());
    CHECK(reduction.newest().round == 0);
    int wrong = 0;
    for (std::uint64_t stop = 1; stop <= 20; ++stop) {
      reduction.contribute(std::array{static_cast<double>(stop)});
      reduction.resume();
      wait_until_stopped(comm_thread, reduction);
      for (int look = 0; look < 10; ++look) comm_thread.progress_services_here();
      const Result result = reduction.newest();
      wrong += result.round != 5 * stop || result.values[0] != static_cast<double>(stop);
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("contributions may be taken when a round needs them") {
  const auto world = Communicator::collective_world();
  in_every_way([&](CommThread& comm_thread, Engine engine) {
    double taken = 0;  // of the communication thread
    ContinuousReduction reduction(
        world, comm_thread,
        {.operations = {ReduceOperation::sum},
         .engine = engine,
         .stops_after = [](const Result& result) { return result.round == 30; },
         .take = [&](std::span<double> values) { values[0] = ++taken; }});
    const Registration registration(comm_thread, reduction);
    reduction.resume();
    wait_until_stopped(comm_thread, reduction);
    CHECK(reduction.newest().values[0] == 30.0 * world.size());
  });
}

}  // namespace
}  // namespace weft::comm_thread
