#pragma once

#include <array>
#include <cstdint>

#include "comm_thread/channels/triple_swap.h"

namespace weft::comm_thread {

/// Passes the newest value from one thread to another; older ones are lost, and neither thread
/// waits.
///
/// Memory ordering: that of TripleSwap.
/// Value: assigning it must not throw, nor allocate where that matters.
template <class Value>
class NewestValue {
 public:
  explicit NewestValue(const Value& initial)
      : slots_{Slot{initial}, Slot{initial}, Slot{initial}} {}

  /// Publishes `value`. Thread: the writer.
  void write(const Value& value) {
    slots_[back_].value = value;
    back_ = swap_.give(back_);
  }

  /// The newest value. Thread: the reader. The reference is valid until its next call.
  const Value& read() {
    front_ = swap_.take(front_);
    return slots_[front_].value;
  }

 private:
  struct alignas(64) Slot {
    Value value;
  };

  std::array<Slot, 3> slots_;
  alignas(64) std::uint32_t back_ = TripleSwap::first_back;
  alignas(64) TripleSwap swap_;
  alignas(64) std::uint32_t front_ = TripleSwap::first_front;
};

}  // namespace weft::comm_thread
