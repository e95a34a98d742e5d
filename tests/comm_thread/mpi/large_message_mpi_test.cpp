#include <cstddef>
#include <utility>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "tests/support/mpi_main.h"

namespace weft::comm_thread {
namespace {

constexpr std::size_t byte_total = (std::size_t{1} << 31) + 100'000'001;
constexpr std::size_t stride = 509;  // a prime: no block of the message is left out

std::byte value_at(std::size_t i) { return static_cast<std::byte>(i * 0x9e3779b97f4a7c15 >> 56); }

Bytes filled() {
  Bytes bytes(byte_total);
  for (std::size_t i = 0; i < bytes.size(); i += stride) bytes[i] = value_at(i);
  bytes.back() = std::byte{42};
  return bytes;
}

std::size_t count_wrong(const Bytes& bytes) {
  std::size_t wrong = bytes.size() != byte_total || bytes.back() != std::byte{42};
  for (std::size_t i = 0; i + 1 < bytes.size(); i += stride) wrong += bytes[i] != value_at(i);
  return wrong;
}

TEST_CASE("a schedule carries a message of more than 2 GiB") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  Bytes bytes = world.is_root() ? filled() : Bytes(byte_total);
  Schedule::Builder builder(world, "large message");
  if (world.is_root())
    builder.send(bytes.data(), bytes.size(), 1);
  else
    builder.receive(bytes.data(), bytes.size(), 0);
  const auto schedule = builder.build();
  comm_thread.post(*schedule).wait();
  CHECK(count_wrong(bytes) == 0);
}

TEST_CASE("a sparse exchange carries a message of more than 2 GiB") {
  const auto world = Communicator::collective_world();
  Lists<std::byte> messages;
  if (world.is_root()) messages[1] = filled();
  const auto received = collective_sparse_exchange(world, std::move(messages));
  CHECK(received.size() == (world.is_root() ? 0u : 1u));
  if (received.contains(0)) CHECK(count_wrong(received.at(0)) == 0);
}

}  // namespace
}  // namespace weft::comm_thread
