#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::comm_thread {

/// Checksum of a message with its header, which shows that a message put in pieces is complete.
/// Depends on every bit but the header's `check`, and is never 0.
/// Shape: the payload is a whole number of 8-byte words.
///
/// An incomplete message passes with probability 2^-64.
std::uint64_t message_check(std::span<const std::byte> message);

}  // namespace weft::comm_thread
