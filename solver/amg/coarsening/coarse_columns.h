#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::solver::amg {

/// Local numbers of coarse columns: those of this rank in their order, then others in the order in
/// which they were met.
///
///     rank 1 of 2 owns columns 3 4 5, meets 2 and 0      local 0 1 2 are 3 4 5, local 3 is 2, 4 is
///     0
class CoarseColumns {
 public:
  CoarseColumns(const spmv::RowPartition& partition, int rank)
      : first_(partition.begin(rank)),
        own_count_(static_cast<spmv::LocalIndex>(partition.size(rank))) {}

  spmv::LocalIndex own_count() const { return own_count_; }
  spmv::LocalIndex count() const {
    return own_count_ + static_cast<spmv::LocalIndex>(others_.size());
  }
  bool is_own(spmv::LocalIndex column) const { return column < own_count_; }

  /// The local number of a column, which gets one if it has none.
  spmv::LocalIndex meet(spmv::GlobalIndex column) {
    if (column >= first_ && column < first_ + own_count_)
      return static_cast<spmv::LocalIndex>(column - first_);
    const auto [place, is_new] = numbers_.try_emplace(column, count());
    if (is_new) others_.push_back(column);
    return place->second;
  }
  spmv::GlobalIndex global(spmv::LocalIndex column) const {
    return is_own(column) ? first_ + column
                          : others_[static_cast<std::size_t>(column - own_count_)];
  }

  /// The place of each local number among all in ascending global order. Shape: [count].
  std::vector<spmv::LocalIndex> places() const {
    std::vector<spmv::LocalIndex> order(others_.size());
    std::iota(order.begin(), order.end(), own_count_);
    std::ranges::sort(order, {}, [this](spmv::LocalIndex column) { return global(column); });
    const auto lower = static_cast<spmv::LocalIndex>(
        std::ranges::count_if(others_, [this](spmv::GlobalIndex c) { return c < first_; }));
    std::vector<spmv::LocalIndex> places(static_cast<std::size_t>(count()));
    std::iota(places.begin(), places.begin() + own_count_, lower);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto place = static_cast<spmv::LocalIndex>(i);
      places[static_cast<std::size_t>(order[i])] = place < lower ? place : place + own_count_;
    }
    return places;
  }

 private:
  spmv::GlobalIndex first_;
  spmv::LocalIndex own_count_;
  std::vector<spmv::GlobalIndex> others_;
  std::unordered_map<spmv::GlobalIndex, spmv::LocalIndex> numbers_;
};

}  // namespace weft::solver::amg
