#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::comm_thread {

/// Checksum of a message with its header, by which a message that was put piece by piece is known
/// to be whole: depends on every bit but the header's `check`, and is never 0.
/// Shape: the payload is a whole number of 8-byte words.
///
/// A message that has not arrived whole passes with probability 2^-64.
std::uint64_t message_check(std::span<const std::byte> message);

}  // namespace weft::comm_thread
