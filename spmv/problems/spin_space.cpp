#include "spmv/problems/spin_space.h"

#include <algorithm>
#include <bit>

namespace weft::spmv {

SpinSpace::SpinSpace(int site_count, int electron_count) {
  const std::uint32_t end = std::uint32_t{1} << site_count;
  for (std::uint32_t occupied = 0; occupied < end; ++occupied)
    if (std::popcount(occupied) == electron_count) occupied_.push_back(occupied);
  for (const std::uint32_t occupied : occupied_) add_hops(occupied, site_count, electron_count);
}

GlobalIndex SpinSpace::number(std::uint32_t occupied) const {
  return std::lower_bound(occupied_.begin(), occupied_.end(), occupied) - occupied_.begin();
}

void SpinSpace::add_hops(std::uint32_t occupied, int site_count, int electron_count) {
  const std::size_t first = hops_.size();
  for (int site = 0; site < site_count; ++site) {
    const int next = (site + 1) % site_count;
    const std::uint32_t bond = std::uint32_t{1} << site | std::uint32_t{1} << next;
    if (std::popcount(occupied & bond) != 1) continue;
    // Around the ring an electron passes all others of its spin.
    const int sign = next == 0 && electron_count % 2 == 0 ? -1 : 1;
    hops_.push_back({number(occupied ^ bond), sign});
  }
  const auto begin = hops_.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, hops_.end(), [](const Hop& a, const Hop& b) { return a.state < b.state; });
  // Only the two bonds of a ring of two sites lead to the same state.
  if (hops_.size() == first + 2 && hops_[first].state == hops_[first + 1].state) {
    hops_[first].sign += hops_[first + 1].sign;
    hops_.pop_back();
  }
  offsets_.push_back(hops_.size());
}

}  // namespace weft::spmv
