#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace weft::comm_thread {

/// One end of a link between two ranks.
///
/// Messages sent with `send_tag` arrive at the neighbour's link whose `receive_tag` is the same. A
/// link may connect a rank with itself.
struct LinkPlan {
  int neighbour = 0;
  int send_tag = 0;
  int receive_tag = 0;
  std::size_t send_bytes = 0;  // of one message, header included; the same at the other end
  std::size_t receive_bytes = 0;
  std::size_t slot_count = 1;  // most messages in flight each way; the same at the other end
  std::uint64_t delivery = 0;  // of the channel; the same at the other end
};

/// First bytes of every message, before the payload.
struct alignas(64) MessageHeader {
  std::uint64_t number = 0;  // 1, 2, 3 … on its link and direction
  std::uint64_t iteration = 0;  // of the sender
  std::uint64_t kind = 0;  // of the channel: data or closing
  std::uint64_t check = 0;  // for the transport's own use
};

/// Moves whole messages, in order and without loss, between the two ends of each link.
///
/// Flow control: message `number` of a link uses send slot `(number - 1) % slot_count` and may be
/// started once `acknowledged(link) + slot_count >= number`. The other end acknowledges a message
/// at the latest when it releases it.
///
///     sender  slots | 5 | 2 | 3 | 4 |   started 5, acknowledged 1
///     receiver              | 3 | 4 |   released 2 (its acknowledgement on the way)
///
/// Thread: one thread at a time, the communication thread while a service is registered.
/// Construction and `collective_close` are collective over the communicator. Throws MpiError.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Called once before each poll of the links: lets the library progress. Returns false if the
  /// poll can be left out: since the last one nothing has arrived, nothing has been acknowledged,
  /// and no send slot has been asked for.
  virtual bool progress() { return true; }

  /// Buffer of message `number`, to be filled before `start`. Fixed for the life of the transport,
  /// aligned to 64 bytes. Shape: [send_bytes]. Thread: any.
  virtual std::span<std::byte> send_slot(std::size_t link, std::uint64_t number) = 0;

  /// Sends the message in the slot of `number`; its header is complete except for `check`.
  virtual void start(std::size_t link, std::uint64_t number) = 0;

  /// Number of messages of this link that the other end has acknowledged so far.
  virtual std::uint64_t acknowledged(std::size_t link) = 0;

  /// The oldest complete message that is not released. Shape: [receive_bytes].
  virtual std::optional<std::span<const std::byte>> arrived(std::size_t link) = 0;

  /// Frees the slot of the message last returned by `arrived`.
  virtual void release(std::size_t link) = 0;

  /// Ends all links. Before: everything started is acknowledged, everything arrived is released,
  /// at both ends. Leaves no request, message or epoch behind. Called once; the destructor only
  /// frees memory.
  virtual void collective_close() = 0;
};

}  // namespace weft::comm_thread
