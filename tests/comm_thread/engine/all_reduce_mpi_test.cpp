#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/all_reduce.h"
#include "comm_thread/mpi/communicator.h"
#include "tests/support/mpi_main.h"

namespace weft::comm_thread {
namespace {

constexpr std::array<ReduceOperation, 3> sum_min_max{ReduceOperation::sum, ReduceOperation::min,
                                                     ReduceOperation::max};

/// Different for every rank and run, with roundings in every sum.
double contribution(int rank, int run) {
  return std::sin(1 + rank + 100.0 * run) * std::pow(10.0, (rank * 7 + run) % 11 - 5);
}

/// Expected sum of the tree of `size` ranks from `rank`: own, first half, second half of the rest.
double tree_sum(int rank, int size, int run) {
  const int half = (size - 1) / 2;
  double sum = contribution(rank, run);
  if (half > 0) sum += tree_sum(rank + 1, half, run);
  if (size > 1) sum += tree_sum(rank + 1 + half, size - 1 - half, run);
  return sum;
}

double extreme(int size, int run, bool is_max) {
  double value = contribution(0, run);
  for (int rank = 1; rank < size; ++rank)
    value = is_max ? std::max(value, contribution(rank, run))
                   : std::min(value, contribution(rank, run));
  return value;
}

bool is_same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Number of wrong results among the three of one run.
int wrong_count(std::span<const double> result, int size, int run) {
  return !is_same(result[0], tree_sum(0, size, run)) +
         !is_same(result[1], extreme(size, run, false)) +
         !is_same(result[2], extreme(size, run, true));
}

TEST_CASE("sum, minimum and maximum reach every rank, with the bits of the tree") {
  const auto world = Communicator::collective_world();
  for (const ThreadLevel level : {tests::session().thread_level(), ThreadLevel::serialized}) {
    CommThread comm_thread({.thread_level = level});
    AllReduce reduce(world, sum_min_max, 0, {});
    int wrong = 0;
    const int runs = world.size() <= 4 ? 1000 : 200;  // few cores, many threads
    for (int run = 0; run < runs; ++run) {
      std::ranges::fill(reduce.values(), contribution(world.rank(), run));
      (run % 2 == 0 ? reduce.post(comm_thread) : reduce.start_here(comm_thread)).wait();
      wrong += wrong_count(reduce.values(), world.size(), run);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("many all-reduces are in flight at once, posted in any order") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  constexpr int count = 30;
  std::vector<std::unique_ptr<AllReduce>> reduces;
  for (int i = 0; i < count; ++i)
    reduces.push_back(std::make_unique<AllReduce>(world, sum_min_max, i, AllReduce::Hooks{}));
  int wrong = 0;
  for (int run = 0; run < 5; ++run) {
    std::vector<Pending> pending;
    for (int i = 0; i < count; ++i) {
      const int which = world.rank() % 2 == 0 ? i : count - 1 - i;
      AllReduce& reduce = *reduces[static_cast<std::size_t>(which)];
      std::ranges::fill(reduce.values(), contribution(world.rank(), which));
      pending.push_back(reduce.post(comm_thread));
    }
    for (const Pending& reduction : pending) reduction.wait();
    for (int i = 0; i < count; ++i)
      wrong += wrong_count(reduces[static_cast<std::size_t>(i)]->values(), world.size(), i);
  }
  CHECK(wrong == 0);
}

TEST_CASE("contributions are taken and results published by the hooks") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  int run = 0;
  std::vector<double> published;
  AllReduce reduce(world, sum_min_max, 0,
                   {.take =
                        [&](std::span<double> values) {
                          std::ranges::fill(values, contribution(world.rank(), run));
                        },
                    .publish =
                        [&](std::span<const double> values) {
                          published.assign(values.begin(), values.end());
                        }});
  int wrong = 0;
  for (; run < 50; ++run) {
    published.clear();
    std::ranges::fill(reduce.values(), -1);
    reduce.post(comm_thread).wait();
    wrong += published.size() != 3 || wrong_count(published, world.size(), run) != 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a NaN on one rank is seen by all, whatever the operation") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  AllReduce reduce(world, sum_min_max, 0, {});
  for (int culprit = 0; culprit < world.size(); ++culprit) {
    std::ranges::fill(reduce.values(),
                      world.rank() == culprit ? std::numeric_limits<double>::quiet_NaN() : 1.0);
    reduce.post(comm_thread).wait();
    for (const double value : reduce.values()) CHECK(std::isnan(value));
  }
}

}  // namespace
}  // namespace weft::comm_thread
