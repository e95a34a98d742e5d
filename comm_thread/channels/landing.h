#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "comm_thread/channels/triple_swap.h"

namespace weft::comm_thread {

/// Delivery of a channel's messages to their reader (Bethune et al. 2012, section 3.1).
enum class Delivery {
  async,  // one whole message, the newest; older ones are discarded
  racy,  // the newest value of each element, from any mixture of messages
};

/// Newest message or elements received.
struct Received {
  std::span<const double> values;  // until the next `take`
  std::uint64_t iteration = 0;  // of the sender, when it sent the newest of them
  std::uint64_t number = 0;  // of the newest message; counts from 1
  std::uint64_t arrived_count = 0;  // messages since the last `take`: all but one discarded
};

/// Memory that passes the messages of one direction of a channel from one writer to one reader;
/// neither ever waits. Both may be threads of one process or, where the memory is shared, processes
/// of one node.
///
///     async   | state, labels | message | message | message |   see TripleSwap
///     racy    | label | elements |                              both use it at the same time
///
/// Memory ordering: *async*: that of TripleSwap: whole messages only. *racy*: elements
/// are relaxed `std::atomic_ref<double>` on both sides, the message's number and iteration are
/// stored after them with release and loaded before them with acquire, so elements are at least as
/// new as the number.
class Landing {
 public:
  /// Bytes of a landing for messages of `element_count` doubles, a multiple of 64.
  static std::size_t bytes(Delivery delivery, std::size_t element_count);

  /// Makes `memory` (aligned to 64 bytes) an empty landing: racy elements are 0, no message has
  /// arrived. Before the writer and the reader exist.
  static void initialise(std::byte* memory, Delivery delivery, std::size_t element_count);

  class Writer;
  class Reader;
};

/// The writing end. Thread: one at a time.
class Landing::Writer {
 public:
  Writer(std::byte* memory, Delivery delivery, std::size_t element_count);

  /// Buffer for the next message, published by `land`. Shape: [element_count].
  std::span<double> buffer();

  /// Publishes the contents of `buffer`.
  void land(std::uint64_t number, std::uint64_t iteration);

  /// Publishes `values`, without an intermediate copy if possible. Shape: [element_count].
  void land(std::span<const double> values, std::uint64_t number, std::uint64_t iteration);

 private:
  std::byte* memory_;
  std::size_t element_count_;
  Delivery delivery_;
  std::uint32_t back_ = TripleSwap::first_back;
  std::unique_ptr<double[]> staging_;  // racy only. Shape: [element_count]
};

/// The reading end. Thread: one at a time.
class Landing::Reader {
 public:
  Reader(std::byte* memory, Delivery delivery, std::size_t element_count);

  /// True if a message has arrived since the last `take`.
  bool has_arrived() const;

  /// *async*: the newest message, unchanged until the next `take`; if none has arrived since the
  /// last call, the same message with `arrived_count` 0. *racy*: a copy of the current elements.
  /// Before the first message: zeros, number 0.
  Received take();

 private:
  Received take_async();
  Received take_racy();

  std::byte* memory_;
  std::size_t element_count_;
  Delivery delivery_;
  std::uint32_t front_ = TripleSwap::first_front;
  std::uint64_t last_number_ = 0;
  std::unique_ptr<double[]> copy_;  // racy only. Shape: [element_count]
};

}  // namespace weft::comm_thread
