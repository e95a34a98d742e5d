#pragma once

#include <atomic>
#include <cstdint>

namespace weft::comm_thread {

/// Ownership of three slots: the writer has one, the reader one, and the third is exchanged.
///
///     writer → [ back ]   ⇄   [ middle ]   ⇄   [ front ] → reader       each ⇄ swaps two slots
///
/// Neither ever waits; the reader always gets the newest filled slot. Slots are numbered 0 to 2:
/// the writer begins with 0, the reader with 2. May lie in memory that processes share.
///
/// Memory ordering: both swaps are acq_rel exchanges, so that what the writer wrote to a slot
/// before `give` is seen after the `take` that returns it, and what the reader read is read before
/// the writer gets the slot back.
class TripleSwap {
 public:
  static constexpr std::uint32_t first_back = 0;
  static constexpr std::uint32_t first_front = 2;

  /// Publishes the filled slot `back`; returns the writer's next slot. Thread: the writer.
  std::uint32_t give(std::uint32_t back) {
    return middle_.exchange(back | fresh, std::memory_order_acq_rel) & slot_mask;
  }

  /// True if a slot was published since the last `take`. Thread: the reader.
  bool has_fresh() const { return (middle_.load(std::memory_order_relaxed) & fresh) != 0; }

  /// Exchanges `front` for the newest published slot; returns `front` if there is none. Thread: the
  /// reader.
  std::uint32_t take(std::uint32_t front) {
    return has_fresh() ? middle_.exchange(front, std::memory_order_acq_rel) & slot_mask : front;
  }

 private:
  static constexpr std::uint32_t fresh = 4;
  static constexpr std::uint32_t slot_mask = 3;
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

  std::atomic<std::uint32_t> middle_{1};
};

}  // namespace weft::comm_thread
