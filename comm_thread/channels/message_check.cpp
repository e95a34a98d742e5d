#include "comm_thread/channels/message_check.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "comm_thread/channels/transport.h"

namespace weft::comm_thread {

std::uint64_t message_check(std::span<const std::byte> message) {
  const std::span<const std::byte> payload = message.subspan(sizeof(MessageHeader));
  const std::uint64_t labels = XXH3_64bits(message.data(), offsetof(MessageHeader, check));
  const std::uint64_t check = XXH3_64bits_withSeed(payload.data(), payload.size(), labels);
  return check == 0 ? 1 : check;
}

}  // namespace weft::comm_thread
