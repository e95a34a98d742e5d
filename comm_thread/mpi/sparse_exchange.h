#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

using Bytes = std::vector<std::byte>;

/// Sends each message to its rank and returns the messages sent to this rank, by source rank.
///
/// No rank knows its senders beforehand, and only ranks that exchange messages communicate:
/// synchronous sends, then a non-blocking barrier once all own sends are matched. Empty messages
/// are not sent; a message to this rank itself is moved directly.
/// Collective. Shape: O(own messages) memory and time + O(log ranks) for the barrier.
/// Source: Hoefler, Siebert, Lumsdaine 2010, "Scalable communication protocols for dynamic sparse
/// data exchange", algorithm 2 (NBX).
std::map<int, Bytes> collective_sparse_exchange(const Communicator& communicator,
                                                std::map<int, Bytes> messages);

/// Converts a list of trivially copyable values to bytes and back.
template <class Value>
Bytes to_bytes(const std::vector<Value>& values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return Bytes(begin, begin + values.size() * sizeof(Value));
}

template <class Value>
std::vector<Value> from_bytes(const Bytes& bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  const auto* begin = reinterpret_cast<const Value*>(bytes.data());
  values.assign(begin, begin + values.size());
  return values;
}

}  // namespace weft::comm_thread
