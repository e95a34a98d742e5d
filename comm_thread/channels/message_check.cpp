#include "comm_thread/channels/message_check.h"

#include <array>
#include <bit>
#include <cstring>

#include "comm_thread/channels/transport.h"

namespace weft::comm_thread {
namespace {

constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return std::rotl((hash ^ word) * multiplier, 29);
}

std::uint64_t word_at(const std::byte* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

}  // namespace

std::uint64_t message_check(std::span<const std::byte> message) {
  MessageHeader header;
  std::memcpy(&header, message.data(), sizeof(header));
  const std::span<const std::byte> payload = message.subspan(sizeof(header));

  // Four chains of multiplications hide each other's latency: about one word a cycle.
  std::array<std::uint64_t, 4> chains{header.number, header.iteration, header.kind, 1};
  const std::size_t words = payload.size() / sizeof(std::uint64_t);
  std::size_t i = 0;
  for (; i + 4 <= words; i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane)
      chains[lane] =
          mix(chains[lane], word_at(payload.data() + (i + lane) * sizeof(std::uint64_t)));
  for (; i < words; ++i)
    chains[0] = mix(chains[0], word_at(payload.data() + i * sizeof(std::uint64_t)));

  std::uint64_t check = payload.size();
  for (const std::uint64_t chain : chains) check = mix(mix(check, chain), chain >> 32);
  return check == 0 ? 1 : check;
}

}  // namespace weft::comm_thread
