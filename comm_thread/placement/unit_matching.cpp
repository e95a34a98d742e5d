#include "comm_thread/placement/unit_matching.h"

#include <utility>

namespace weft::comm_thread {

UnitMatching::UnitMatching(std::size_t unit_count,
                           std::vector<std::vector<std::size_t>> usable_units)
    : usable_units_(std::move(usable_units)), owner_(unit_count, nobody) {}

void UnitMatching::deal(std::size_t units_per_rank) {
  bool progress = true;
  for (std::size_t round = 0; round < units_per_rank && progress; ++round) {
    progress = false;
    for (std::size_t rank = 0; rank < usable_units_.size(); ++rank) {
      visited_.assign(owner_.size(), false);
      progress |= give_one_more(rank);
    }
  }
}

std::vector<std::size_t> UnitMatching::units_of(std::size_t rank) const {
  std::vector<std::size_t> units;
  for (std::size_t unit = 0; unit < owner_.size(); ++unit)
    if (owner_[unit] == rank) units.push_back(unit);
  return units;
}

bool UnitMatching::give_one_more(std::size_t rank) {
  for (const std::size_t unit : usable_units_[rank]) {
    if (visited_[unit] || owner_[unit] == rank) continue;
    visited_[unit] = true;
    if (owner_[unit] == nobody || give_one_more(owner_[unit])) {
      owner_[unit] = rank;
      return true;
    }
  }
  return false;
}

}  // namespace weft::comm_thread
