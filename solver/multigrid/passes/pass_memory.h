#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmv/grid/box.h"

namespace weft::solver {

/// Memory of one thread for the planes of a pass.
class PassMemory {
 public:
  /// At least `count` elements from an address that is a multiple of 64 bytes.
  float* reserve(std::size_t count) {
    if (count + line > memory_.size()) memory_.resize(count + line);
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (64 - address % 64) % 64 / sizeof(float);
  }

 private:
  static constexpr std::size_t line = 16;
  std::vector<float> memory_;
};

/// Hands out the memory of a pass. A first call with no memory counts.
class Allotment {
 public:
  explicit Allotment(PassMemory& memory) : memory_(memory) {}
  void reserve(std::size_t count) { total_ += rounded(count); }
  /// After all reservations.
  void begin() { first_ = memory_.reserve(total_); }
  float* take(std::size_t count) {
    float* const place = first_ + used_;
    used_ += rounded(count);
    return place;
  }

 private:
  static std::size_t rounded(std::size_t count) { return (count + 15) / 16 * 16; }
  PassMemory& memory_;
  float* first_ = nullptr;
  std::size_t total_ = 0;
  std::size_t used_ = 0;
};

/// Zeros for rows outside of the grid, indexed by x, at least `domain`'s and one more on each side.
inline const float* take_zeros(Allotment& allotment, const spmv::GridBox& box) {
  const auto count = static_cast<std::size_t>(box.size(0) + 32);
  float* const zeros = allotment.take(count);
  std::fill_n(zeros, count, 0.0F);
  return zeros + 16 - box.begin[0];
}

inline std::size_t zeros_count(const spmv::GridBox& box) {
  return static_cast<std::size_t>(box.size(0) + 32);
}

}  // namespace weft::solver
