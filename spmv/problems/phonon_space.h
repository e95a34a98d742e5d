#pragma once

#include <span>
#include <vector>

#include "spmv/rows/index.h"

namespace weft::spmv {

/// Numbers the states of phonons: how many are in each mode, at most so many in all.
///
///     2 modes, 2 phonons at most:   (0,0) (0,1) (0,2) (1,0) (1,1) (2,0)
///     number                          0     1     2     3     4     5
///
/// In lexicographic order, the first mode slowest, so that one more phonon in any mode is a higher
/// number. No table of states: a number is a sum of binomials. Thread: any number at the same time.
class PhononSpace {
 public:
  /// `mode_count` >= 1. The number of states fits into a GlobalIndex.
  PhononSpace(int mode_count, int most_phonons);

  int mode_count() const { return mode_count_; }
  int most_phonons() const { return most_phonons_; }
  GlobalIndex size() const { return count(mode_count_, most_phonons_); }

  /// `phonons`: [mode_count], of a state.
  GlobalIndex number(std::span<const int> phonons) const;
  /// The state with the number `number`; `phonons`: [mode_count].
  void find(GlobalIndex number, std::span<int> phonons) const;

 private:
  /// Number of states of the last `modes` modes with at most `most` phonons.
  GlobalIndex count(int modes, int most) const {
    return counts_[static_cast<std::size_t>(modes * (most_phonons_ + 1) + most)];
  }

  int mode_count_;
  int most_phonons_;
  std::vector<GlobalIndex> counts_;  // [mode_count + 1][most_phonons + 1]
};

}  // namespace weft::spmv
