#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmv/grid/grid_box.h"

namespace weft::solver {

/// Memory of one thread for the planes of a pass.
template <class Value>
class PassMemory {
 public:
  /// At least `count` elements from an address that is a multiple of 64 bytes.
  Value* reserve(std::size_t count) {
    if (count + line > memory_.size()) memory_.resize(count + line);
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (64 - address % 64) % 64 / sizeof(Value);
  }

 private:
  static constexpr std::size_t line = 16;
  std::vector<Value> memory_;
};

/// Hands out the memory of a pass. A first call with no memory counts.
template <class Value>
class Allotment {
 public:
  explicit Allotment(PassMemory<Value>& memory) : memory_(memory) {}
  void reserve(std::size_t count) { total_ += rounded(count); }
  /// After all reservations.
  void begin() { first_ = memory_.reserve(total_); }
  Value* take(std::size_t count) {
    Value* const place = first_ + used_;
    used_ += rounded(count);
    return place;
  }

 private:
  static std::size_t rounded(std::size_t count) { return (count + 15) / 16 * 16; }
  PassMemory<Value>& memory_;
  Value* first_ = nullptr;
  std::size_t total_ = 0;
  std::size_t used_ = 0;
};

/// Zeros for rows outside of the grid, indexed by x, at least `domain`'s and one more on each side.
template <class Value>
const Value* take_zeros(Allotment<Value>& allotment, const spmv::GridBox& box) {
  const auto count = static_cast<std::size_t>(box.size(0) + 32);
  Value* const zeros = allotment.take(count);
  std::fill_n(zeros, count, Value{});
  return zeros + 16 - box.begin[0];
}

inline std::size_t zeros_count(const spmv::GridBox& box) {
  return static_cast<std::size_t>(box.size(0) + 32);
}

}  // namespace weft::solver
