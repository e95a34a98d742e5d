#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {
namespace {

TEST_CASE("every rank has a number of its own") {
  const auto world = Communicator::collective_world();
  CHECK(world.rank() >= 0);
  CHECK(world.rank() < world.size());
  CHECK(world.is_root() == (world.rank() == 0));
  CHECK(world.sum(std::int64_t{1} << world.rank()) == (std::int64_t{1} << world.size()) - 1);
}

TEST_CASE("sums, extremes and prefix sums are over all ranks") {
  const auto world = Communicator::collective_world();
  const std::int64_t rank = world.rank();
  const std::int64_t size = world.size();
  const std::int64_t large = std::int64_t{1} << 40;
  CHECK(world.sum(large + rank) == large * size + size * (size - 1) / 2);
  CHECK(world.min(large - rank) == large - size + 1);
  CHECK(world.max(rank - large) == size - 1 - large);
  CHECK(world.min(0.5 - static_cast<double>(rank)) == 1.5 - static_cast<double>(size));
  CHECK(world.max(static_cast<double>(rank) + 0.25) == static_cast<double>(size) - 0.75);
  CHECK(world.sum(0.5) == 0.5 * static_cast<double>(size));
  CHECK(world.exclusive_prefix_sum(rank + 1) == rank * (rank + 1) / 2);
  std::vector<std::int64_t> values{rank, 1, -rank};
  world.sum(values);
  CHECK(values == std::vector<std::int64_t>{size * (size - 1) / 2, size, -size * (size - 1) / 2});
}

TEST_CASE("tags differ and are the same on all ranks, also of a communicator that has moved") {
  auto world = Communicator::collective_world();
  std::vector<std::int64_t> tags;
  for (int i = 0; i < 3; ++i) tags.push_back(world.new_tag());
  Communicator moved(std::move(world));
  tags.push_back(moved.new_tag());
  Communicator assigned = Communicator::self();
  assigned = std::move(moved);
  tags.push_back(assigned.new_tag());
  CHECK(std::set(tags.begin(), tags.end()).size() == tags.size());
  for (const std::int64_t tag : tags) CHECK(assigned.min(tag) == assigned.max(tag));
}

TEST_CASE("texts and numbers are broadcast from any rank") {
  const auto world = Communicator::collective_world();
  for (int root = 0; root < world.size(); ++root) {
    const bool is_root = world.rank() == root;
    const std::string expected = root == 0 ? "" : std::string(1000, 'x');
    std::string text = is_root ? expected : "something else";
    world.broadcast(text, root);
    CHECK(text == expected);
    std::vector<std::int64_t> numbers{is_root ? root : -1, is_root ? 7 : -1};
    world.broadcast(numbers, root);
    CHECK(numbers == std::vector<std::int64_t>{root, 7});
  }
}

TEST_CASE("texts are gathered in rank order on rank 0") {
  const auto world = Communicator::collective_world();
  const auto text_of = [](int rank) { return std::string(static_cast<std::size_t>(rank), 'a'); };
  const std::vector<std::string> texts = world.gather(text_of(world.rank()));
  CHECK(std::ssize(texts) == (world.is_root() ? world.size() : 0));
  for (std::size_t rank = 0; rank < texts.size(); ++rank)
    CHECK(texts[rank] == text_of(static_cast<int>(rank)));
}

TEST_CASE("numbers are gathered on all ranks") {
  const auto world = Communicator::collective_world();
  const auto number_of = [](std::int64_t rank) { return (std::int64_t{1} << 40U) - 3 * rank; };
  const std::vector<std::int64_t> all = world.all_gather(number_of(world.rank()));
  CHECK(std::ssize(all) == world.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    CHECK(all[rank] == number_of(static_cast<std::int64_t>(rank)));
}

TEST_CASE("lists of different lengths are gathered on all ranks") {
  const auto world = Communicator::collective_world();
  const auto list_of = [](int rank) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(rank % 3), 10 + rank);
  };
  const auto lists = world.all_gather(list_of(world.rank()));
  CHECK(std::ssize(lists) == world.size());
  for (std::size_t rank = 0; rank < lists.size(); ++rank)
    CHECK(lists[rank] == list_of(static_cast<int>(rank)));
}

TEST_CASE("duplicates have the same ranks, and so has the node of one machine") {
  const auto world = Communicator::collective_world();
  const auto copy = world.collective_duplicate();
  const auto node = world.collective_split_node();
  CHECK(copy.rank() == world.rank());
  CHECK(copy.size() == world.size());
  CHECK(copy.handle() != world.handle());
  CHECK(node.rank() == world.rank());
  CHECK(node.size() == world.size());
}

TEST_CASE("a communicator can be moved and still works") {
  auto first = Communicator::collective_world();
  Communicator second = std::move(first);
  CHECK(second.sum(std::int64_t{1}) == second.size());
  first = second.collective_duplicate();
  second = std::move(first);
  CHECK(second.sum(std::int64_t{1}) == second.size());
}

}  // namespace
}  // namespace weft::comm_thread
