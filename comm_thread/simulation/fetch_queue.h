#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace weft::comm_thread {

/// Lines of memory to fetch into the caches, a few at a time, between other work.
///
/// Processors drop prefetches that come in bursts, although they are asked for long before: of 240
/// lines at once an EPYC drops one in seven, of eight at a time, 50 ns apart, one in a hundred.
/// Measured: docs/notes/simulation.md.
/// Thread: one.
class FetchQueue {
 public:
  static constexpr std::size_t line_bytes = 64;

  void add(const void* line) {
    if (end_ - begin_ == lines_.size()) fetch_next();
    lines_[end_++ % lines_.size()] = line;
  }
  /// The first of its lines begins where it begins.
  void add(std::span<const std::byte> memory) {
    for (std::size_t byte = 0; byte < memory.size(); byte += line_bytes) add(&memory[byte]);
  }

  /// A few lines.
  void fetch_some() {
    for (std::size_t i = 0; i < lines_at_once && begin_ != end_; ++i) fetch_next();
  }
  /// More where too many wait: what comes late is of no use.
  void fetch_overdue() {
    while (end_ - begin_ > most_waiting) fetch_next();
  }

 private:
  static constexpr std::size_t lines_at_once = 8;
  static constexpr std::size_t most_waiting = 200;

  void fetch_next() { __builtin_prefetch(lines_[begin_++ % lines_.size()]); }

  std::array<const void*, 1024> lines_{};
  std::size_t begin_ = 0;  // both only grow
  std::size_t end_ = 0;
};

}  // namespace weft::comm_thread
