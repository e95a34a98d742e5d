#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::perfmodel {

/// Set-associative cache with least-recently-used replacement that stores line numbers, not data;
/// it counts the loads from memory that a stream of addresses causes. Thread: one.
class CacheSimulation {
 public:
  static constexpr std::size_t line_bytes = 64;

  /// `bytes` is rounded down to whole sets, but not below one.
  explicit CacheSimulation(std::size_t bytes);

  /// Touches the line of `address`; returns true if it had to be loaded.
  bool loads(const void* address) {
    return loads_line(reinterpret_cast<std::uintptr_t>(address) / line_bytes);
  }
  bool loads_line(std::uint64_t line);

 private:
  static constexpr std::size_t ways = 16;
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};

  std::size_t set_count_;
  std::vector<std::uint64_t> lines_;  // [set_count][ways], newest first
};

}  // namespace weft::perfmodel
