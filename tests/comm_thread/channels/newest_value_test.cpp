#include "comm_thread/channels/newest_value.h"

#include <array>
#include <cstdint>
#include <thread>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

TEST_CASE("the newest value is read, as often as wanted, and older ones are lost") {
  NewestValue<int> value(7);
  CHECK(value.read() == 7);
  value.write(1);
  value.write(2);
  value.write(3);
  CHECK(value.read() == 3);
  CHECK(value.read() == 3);
  for (int i = 4; i < 20; ++i) {
    value.write(i);
    CHECK(value.read() == i);
  }
}

TEST_CASE("values pass between threads whole and never backwards") {
  constexpr std::uint64_t last = 200'000;
  using Block = std::array<std::uint64_t, 16>;
  NewestValue<Block> value(Block{});
  std::jthread writer([&value] {
    Block block;
    for (std::uint64_t i = 1; i <= last; ++i) {
      block.fill(i);
      value.write(block);
    }
  });
  std::uint64_t newest = 0;
  int wrong = 0;
  while (newest < last) {
    const Block& block = value.read();
    for (const std::uint64_t word : block) wrong += word != block[0];
    wrong += block[0] < newest;
    newest = block[0];
    std::this_thread::yield();
  }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace weft::comm_thread
