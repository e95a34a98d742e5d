#pragma once

#include <cstddef>
#include <vector>

namespace weft::comm_thread {

/// Assigns units (cores, PUs) to ranks that may each use only some of them: maximum bipartite
/// matching by augmenting paths. Where possible, every rank gets one unit before any gets a second.
class UnitMatching {
 public:
  /// `usable_units`: [rank count], the units that each rank may use.
  UnitMatching(std::size_t unit_count, std::vector<std::vector<std::size_t>> usable_units);

  void deal(std::size_t units_per_rank);

  /// Units of `rank`, ascending.
  std::vector<std::size_t> units_of(std::size_t rank) const;

 private:
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  /// Gives `rank` a free unit, or one whose owner can get another; returns false if there is none.
  bool give_one_more(std::size_t rank);

  std::vector<std::vector<std::size_t>> usable_units_;
  std::vector<std::size_t> owner_;  // [unit count]
  std::vector<bool> visited_;  // [unit count], by the current augmenting path
};

}  // namespace weft::comm_thread
