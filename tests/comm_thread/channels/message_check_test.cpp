#include "comm_thread/channels/message_check.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/channels/transport.h"

namespace weft::comm_thread {
namespace {

std::vector<std::byte> message_of(std::size_t payload_bytes) {
  std::vector<std::byte> message(sizeof(MessageHeader) + payload_bytes);
  for (std::size_t i = sizeof(MessageHeader); i < message.size(); ++i)
    message[i] = static_cast<std::byte>(i * 37);
  const MessageHeader header{.number = 7, .iteration = 70, .kind = 1};
  std::memcpy(message.data(), &header, sizeof(header));
  return message;
}

TEST_CASE("every bit of the payload and of the labels counts") {
  for (const std::size_t bytes : {0u, 8u, 32u, 40u, 200u}) {
    std::vector<std::byte> message = message_of(bytes);
    const std::uint64_t check = message_check(message);
    CHECK(check != 0);
    int unnoticed = 0;
    for (std::size_t i = 0; i < message.size(); ++i) {
      const bool counts = i < offsetof(MessageHeader, check) || i >= sizeof(MessageHeader);
      for (int bit = 0; bit < 8; ++bit) {
        message[i] ^= static_cast<std::byte>(1 << bit);
        unnoticed += (message_check(message) == check) == counts;
        message[i] ^= static_cast<std::byte>(1 << bit);
      }
    }
    CHECK(unnoticed == 0);
  }
}

TEST_CASE("swapped words and a payload of zeros are noticed") {
  std::vector<std::byte> message = message_of(64);
  const std::uint64_t check = message_check(message);
  std::vector<std::byte> swapped = message;
  std::memcpy(swapped.data() + sizeof(MessageHeader), message.data() + sizeof(MessageHeader) + 8,
              8);
  std::memcpy(swapped.data() + sizeof(MessageHeader) + 8, message.data() + sizeof(MessageHeader),
              8);
  CHECK(message_check(swapped) != check);
  std::memset(message.data() + sizeof(MessageHeader), 0, 64);
  CHECK(message_check(message) != check);
}

}  // namespace
}  // namespace weft::comm_thread
