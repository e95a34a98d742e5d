#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "perfmodel/huge_page_buffer.h"

namespace weft::comm_thread {

/// Whole cache lines on huge pages, one after the other and never given back: what is taken
/// together lies together. Simulations of many ranks wait for memory most of the time.
class LinePool {
 public:
  static constexpr std::size_t line_bytes = 64;

  /// Zeroed, aligned to a line.
  std::byte* take(std::size_t bytes) {
    const std::size_t wanted = (bytes + line_bytes - 1) / line_bytes * line_bytes;
    if (wanted > left_) {
      left_ = std::max(wanted, chunk_bytes_);
      chunk_bytes_ = std::min(2 * chunk_bytes_, largest_chunk_bytes);
      next_ = chunks_.emplace_back(left_).data();
    }
    std::byte* const taken = next_;
    next_ += wanted;
    left_ -= wanted;
    return taken;
  }

 private:
  static constexpr std::size_t largest_chunk_bytes = std::size_t{1} << 25U;

  std::deque<perfmodel::HugePageBuffer<std::byte>> chunks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t chunk_bytes_ = std::size_t{1} << 14U;
};

}  // namespace weft::comm_thread
