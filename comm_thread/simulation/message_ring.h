#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::comm_thread {

/// Messages of one simulated route in order, with the times at which they arrive and at which they
/// are known to have arrived. Grows with the number in flight and never shrinks.
///
///     first() ──► | 4 | 5 | 6 |   ◄── end()     message `number` in slot number % capacity
class MessageRing {
 public:
  struct Times {
    double arrival = 0;
    double acknowledgement = std::numeric_limits<double>::infinity();
  };

  /// Makes room for messages of `bytes`. Before the first one.
  void expect(std::size_t bytes) {
    stride_ = std::max(stride_, (bytes + sizeof(double) - 1) / sizeof(double));
  }

  bool is_empty() const { return first_ == end_; }
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return end_; }

  /// Payload of message `number`, one of the ring or the next.
  std::byte* payload(std::uint64_t number) {
    if (number - first_ >= times_.size()) grow();
    return reinterpret_cast<std::byte*>(payload_.data() + slot(number) * stride_);
  }

  Times& times(std::uint64_t number) { return times_[slot(number)]; }

  /// Adds message number `end()`, whose payload is written.
  void push(const Times& times) { times_[slot(end_++)] = times; }
  void pop() { ++first_; }

 private:
  std::size_t slot(std::uint64_t number) const {
    return static_cast<std::size_t>(number) & (times_.size() - 1);
  }

  void grow() {
    const std::size_t old = times_.size();
    const std::size_t capacity = old == 0 ? 2 : 2 * old;
    std::vector<Times> times(capacity);
    std::vector<double> payload(capacity * stride_);
    for (std::uint64_t number = first_; number < first_ + old; ++number) {
      const auto to = static_cast<std::size_t>(number) & (capacity - 1);
      times[to] = times_[slot(number)];
      for (std::size_t i = 0; i < stride_; ++i)
        payload[to * stride_ + i] = payload_[slot(number) * stride_ + i];
    }
    times_ = std::move(times);
    payload_ = std::move(payload);
  }

  std::size_t stride_ = 0;  // of payloads, in doubles
  std::vector<Times> times_;  // a power of two
  std::vector<double> payload_;
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace weft::comm_thread
