#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "spmv/rows/index.h"

namespace weft::spmv {

/// The states of the electrons of one spin on a ring: the occupied sites, in ascending order of the
/// bits, and the result of each hop. A table of all C(sites, electrons) states.
///
///     3 sites, 1 electron:   001 010 100        hops of 001: to 010 and, around the ring, to 100
///     number                  0   1   2
///
/// Thread: any number at the same time.
class SpinSpace {
 public:
  /// Result of a hop, and ±1 times the number of hops that lead there.
  struct Hop {
    GlobalIndex state;
    int sign;
  };

  SpinSpace(int site_count, int electron_count);

  GlobalIndex size() const { return std::ssize(occupied_); }
  /// Bit i: is site i occupied?
  std::uint32_t occupied(GlobalIndex state) const {
    return occupied_[static_cast<std::size_t>(state)];
  }
  /// Σ over bonds of c†_i c_{i+1} + h.c. applied to a state; in ascending order of states.
  std::span<const Hop> hops(GlobalIndex state) const {
    const auto place = static_cast<std::size_t>(state);
    return std::span(hops_).subspan(offsets_[place], offsets_[place + 1] - offsets_[place]);
  }

 private:
  GlobalIndex number(std::uint32_t occupied) const;
  void add_hops(std::uint32_t occupied, int site_count, int electron_count);

  std::vector<std::uint32_t> occupied_;  // ascending
  std::vector<std::size_t> offsets_{0};
  std::vector<Hop> hops_;
};

}  // namespace weft::spmv
