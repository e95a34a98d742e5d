#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace weft::comm_thread {

/// Lines of memory to fetch into the caches, a few at a time, between other work.
///
/// Processors drop prefetches that come in bursts, although they are asked for long before: of 240
/// lines at once an EPYC drops one in seven, of eight at a time, 50 ns apart, one in a hundred. The
/// lines go to the second-level cache: the first one holds no more than two ranks.
/// Measured: docs/notes/simulation.md.
/// Thread: one.
class FetchQueue {
 public:
  static constexpr std::size_t line_bytes = 64;

  /// Null: nothing.
  void add(const void* line) { add_lines(static_cast<const std::byte*>(line), 1); }
  /// The first of its lines begins where it begins.
  void add(std::span<const std::byte> memory) {
    if (!memory.empty()) add_lines(memory.data(), (memory.size() + line_bytes - 1) / line_bytes);
  }

  /// A few lines.
  void fetch_some() {
    Run& run = runs_[begin_ % runs_.size()];
    if (run.count < lines_at_once) {
      fetch(std::min(waiting_, lines_at_once));
      return;
    }
    fetch_from(run, lines_at_once);
    waiting_ -= lines_at_once;
  }
  /// More where too many wait: what comes late is of no use.
  void fetch_overdue() {
    if (waiting_ > most_waiting) fetch(waiting_ - most_waiting);
  }

 private:
  static constexpr std::size_t lines_at_once = 8;
  static constexpr std::size_t most_waiting = 200;

  static constexpr int for_reading = 0;
  static constexpr int second_level = 2;

  /// Lines that lie together.
  struct Run {
    const std::byte* next = nullptr;
    std::size_t count = 0;
  };

  void add_lines(const std::byte* first, std::size_t count) {
    if (!first) return;
    if (end_ - begin_ == runs_.size()) fetch(runs_[begin_ % runs_.size()].count);
    runs_[end_++ % runs_.size()] = {first, count};
    waiting_ += count;
  }

  /// `count` lines of the oldest run, which has so many.
  [[gnu::always_inline]] void fetch_from(Run& run, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      __builtin_prefetch(run.next + i * line_bytes, for_reading, second_level);
    run.next += count * line_bytes;
    run.count -= count;
    if (run.count == 0) ++begin_;
  }

  void fetch(std::size_t count) {
    waiting_ -= count;
    while (count > 0) {
      Run& run = runs_[begin_ % runs_.size()];
      const std::size_t lines = std::min(count, run.count);
      fetch_from(run, lines);
      count -= lines;
    }
  }

  std::array<Run, 256> runs_{};
  std::size_t begin_ = 0;  // both only grow
  std::size_t end_ = 0;
  std::size_t waiting_ = 0;  // lines
};

}  // namespace weft::comm_thread
