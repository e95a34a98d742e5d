#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "comm_thread/channels/slot_ring.h"
#include "comm_thread/channels/transport.h"
#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Begin of each link's part in the memory that neighbours write to.
struct LinkLayout {
  std::vector<std::uint64_t> here;  // in this rank's memory, in link order
  std::vector<std::uint64_t> there;  // in the neighbours'
  std::uint64_t bytes = 0;  // of all parts together
};

/// Lays out the parts of all links one after the other and tells the neighbours their offsets.
/// `bytes_of`: size of a link's part on this rank. Collective. Throws as
/// `collective_exchange_link_ends`.
LinkLayout collective_lay_out_links(const Communicator& communicator,
                                    std::span<const LinkPlan> plans,
                                    const std::function<std::uint64_t(const LinkPlan&)>& bytes_of);

/// One link's part where messages and counts are put into it from afar; each in cache lines of its
/// own:
///
///     | acknowledged | announced | slot 1 | slot 2 | … | slot R |
///       by the         by the       by the sender
///       receiver       sender
namespace put_part {

constexpr std::uint64_t acknowledged_at = 0;
constexpr std::uint64_t announced_at = 64;
constexpr std::uint64_t slots_at = 128;

/// Offset of message `number`; all messages of a direction have `message_bytes`.
constexpr std::uint64_t slot_at(std::uint64_t number, std::size_t message_bytes,
                                std::size_t slot_count) {
  return slots_at + (number - 1) % slot_count * slot_stride(message_bytes);
}

constexpr std::uint64_t bytes_of(const LinkPlan& plan) {
  return slots_at + plan.slot_count * slot_stride(plan.receive_bytes);
}

}  // namespace put_part

}  // namespace weft::comm_thread
