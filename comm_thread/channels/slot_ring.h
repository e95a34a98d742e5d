#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace weft::comm_thread {

/// Bytes from one slot of a ring to the next: whole cache lines.
constexpr std::size_t slot_stride(std::size_t message_bytes) {
  constexpr std::size_t line = 64;
  return (message_bytes + line - 1) / line * line;
}

/// Memory for the messages of one direction of a link, zeroed, each in cache lines of its own.
/// Message `number` (from 1) uses slot `(number - 1) % slot_count`.
class SlotRing {
 public:
  SlotRing(std::size_t message_bytes, std::size_t slot_count)
      : message_bytes_(message_bytes),
        slot_count_(slot_count),
        lines_(std::make_unique<Line[]>(slot_count * slot_stride(message_bytes) / sizeof(Line))) {}

  std::span<std::byte> slot(std::uint64_t number) {
    const auto index = static_cast<std::size_t>((number - 1) % slot_count_);
    return {lines_[0].bytes + index * slot_stride(message_bytes_), message_bytes_};
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  std::size_t message_bytes_;
  std::size_t slot_count_;
  std::unique_ptr<Line[]> lines_;
};

}  // namespace weft::comm_thread
