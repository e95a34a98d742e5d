#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "comm_thread/simulation/line_pool.h"

namespace weft::comm_thread {

/// Messages of one simulated route in order, with the times at which they arrive and at which they
/// are known to have arrived. Grows with the number in flight and never shrinks.
///
///     first() ──► | 4 | 5 | 6 |   ◄── end()     message `number` in slot number % capacity
///     slot        | times | payload |            whole cache lines
///
/// `times_at`, `payload_at`: bytes from the begin of a slot. Times may be where the payload leaves
/// room: they are written after it, and a copy of the payload may contain them.
template <std::size_t times_at, std::size_t payload_at>
class MessageRing {
 public:
  struct Times {
    double arrival = std::numeric_limits<double>::infinity();
    double acknowledgement = std::numeric_limits<double>::infinity();
  };

  /// `pool` outlives the ring.
  explicit MessageRing(LinePool& pool) : pool_(&pool) {}

  /// Makes room for messages of `bytes`. Before the first one.
  void expect(std::size_t bytes) {
    const auto stride = static_cast<std::uint32_t>(slot_lines(bytes));
    if (stride <= stride_ && capacity_ > 0) return;
    stride_ = std::max(stride_, stride);
    capacity_ = 0;
    grow();
  }

  bool is_empty() const { return first_ == end_; }
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return end_; }

  /// Payload of message `number`, one of the ring or the next.
  std::byte* payload(std::uint64_t number) {
    if (number - first_ >= capacity_) grow();
    return slot(number) + payload_at;
  }

  Times& times(std::uint64_t number) { return *reinterpret_cast<Times*>(slot(number) + times_at); }

  /// Adds message number `end()`, whose payload is written.
  void push(const Times& times_of_it) { times(end_++) = times_of_it; }
  void pop() { ++first_; }

  /// False while the slots are where `expect` has put them first.
  bool has_grown() const { return capacity_ > first_capacity; }
  /// Of those slots, for messages of `bytes`.
  static std::size_t first_bytes(std::size_t bytes) { return first_capacity * slot_lines(bytes); }
  /// The slot of message `number`, to be fetched into the caches.
  std::span<const std::byte> memory(std::uint64_t number) const { return {slot(number), stride_}; }

 private:
  /// A message that is on its way and the next one: most routes never need more.
  static constexpr std::size_t first_capacity = 2;

  /// Bytes of a slot, whole lines, for a message of `bytes`.
  static std::size_t slot_lines(std::size_t bytes) {
    const std::size_t used = std::max(times_at + sizeof(Times), payload_at + bytes);
    return (used + LinePool::line_bytes - 1) / LinePool::line_bytes * LinePool::line_bytes;
  }

  std::byte* slot(std::uint64_t number) const {
    return memory_ + (static_cast<std::size_t>(number) & (capacity_ - 1)) * stride_;
  }

  void grow() {
    const std::size_t old = capacity_;
    const std::size_t capacity = old == 0 ? first_capacity : 2 * old;
    std::byte* const memory = pool_->take(capacity * stride_);
    for (std::uint64_t number = first_; number < first_ + old; ++number)
      std::memcpy(memory + (static_cast<std::size_t>(number) & (capacity - 1)) * stride_,
                  slot(number), stride_);
    memory_ = memory;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }

  LinePool* pool_;
  std::byte* memory_ = nullptr;
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  std::uint32_t stride_ = 0;  // of slots, in bytes
  std::uint32_t capacity_ = 0;  // a power of two
};

}  // namespace weft::comm_thread
