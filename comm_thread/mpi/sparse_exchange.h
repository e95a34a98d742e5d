#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

using Bytes = std::vector<std::byte>;

/// Lists of trivially copyable values, by the rank that they go to or come from.
template <class Value>
using Lists = std::map<int, std::vector<Value>>;

/// Does what collective_sparse_exchange does with messages to other ranks. `room(source, bytes)`
/// returns where a message is received.
void collective_exchange_bytes(
    const Communicator& communicator, const std::map<int, std::span<const std::byte>>& messages,
    const std::function<std::span<std::byte>(int source, std::size_t bytes)>& room);

/// Sends each list to its rank and returns the lists sent to this rank, by source rank.
///
/// No rank knows its senders beforehand, and only ranks that exchange messages communicate:
/// synchronous sends, then a non-blocking barrier once all own sends are matched. Empty lists
/// are not sent; a list to this rank itself is moved directly.
/// Collective. Shape: O(own messages) memory and time + O(log ranks) for the barrier.
/// Source: Hoefler, Siebert, Lumsdaine 2010, "Scalable communication protocols for dynamic sparse
/// data exchange", algorithm 2 (NBX).
template <class Value>
Lists<Value> collective_sparse_exchange(const Communicator& communicator, Lists<Value> lists) {
  Lists<Value> received;
  if (auto own = lists.extract(communicator.rank()); own && !own.mapped().empty())
    received.insert(std::move(own));
  std::map<int, std::span<const std::byte>> messages;
  for (const auto& [rank, list] : lists) messages[rank] = std::as_bytes(std::span(list));
  collective_exchange_bytes(communicator, messages, [&](int source, std::size_t bytes) {
    std::vector<Value>& list = received[source];
    list.resize(bytes / sizeof(Value));
    return std::as_writable_bytes(std::span(list));
  });
  return received;
}

/// The lists of collective_sparse_exchange one after the other, those of lower ranks first.
template <class Value>
std::vector<Value> collective_exchange_joined(const Communicator& communicator,
                                              Lists<Value> lists) {
  std::vector<Value> joined;
  for (const auto& [source, list] : collective_sparse_exchange(communicator, std::move(lists)))
    joined.insert(joined.end(), list.begin(), list.end());
  return joined;
}

}  // namespace weft::comm_thread
