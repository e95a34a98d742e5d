#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::perfmodel {

/// A set-associative cache with least-recently-used replacement that remembers lines, not data:
/// what a stream of addresses would load from memory. Thread: one.
class CacheSimulation {
 public:
  static constexpr std::size_t line_bytes = 64;

  /// `bytes`: rounded down to whole sets; at least one.
  explicit CacheSimulation(std::size_t bytes);

  /// Touches the line of `address`; returns whether it had to be loaded.
  bool loads(const void* address) {
    return loads_line(reinterpret_cast<std::uintptr_t>(address) / line_bytes);
  }
  bool loads_line(std::uint64_t line);

 private:
  static constexpr std::size_t ways = 16;
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};

  std::size_t set_count_;
  std::vector<std::uint64_t> lines_;  // [set_count][ways], the newest first
};

}  // namespace weft::perfmodel
