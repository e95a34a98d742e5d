#include "spmv/problems/phonon_space.h"

namespace weft::spmv {

PhononSpace::PhononSpace(int mode_count, int most_phonons)
    : mode_count_(mode_count), most_phonons_(most_phonons) {
  const auto line = static_cast<std::size_t>(most_phonons) + 1;
  counts_.assign((static_cast<std::size_t>(mode_count) + 1) * line, 1);
  for (std::size_t place = line; place < counts_.size(); ++place)
    counts_[place] = counts_[place - line] + (place % line == 0 ? 0 : counts_[place - 1]);
}

GlobalIndex PhononSpace::number(std::span<const int> phonons) const {
  GlobalIndex number = 0;
  int left = most_phonons_;
  for (int mode = 0; mode < mode_count_; ++mode) {
    // States with fewer phonons in this mode: all that `left` allows less those with so many.
    const int modes = mode_count_ - mode;
    const int here = phonons[static_cast<std::size_t>(mode)];
    number += count(modes, left) - count(modes, left - here);
    left -= here;
  }
  return number;
}

void PhononSpace::find(GlobalIndex number, std::span<int> phonons) const {
  int left = most_phonons_;
  for (int mode = 0; mode < mode_count_; ++mode) {
    const int modes = mode_count_ - mode - 1;
    int here = 0;
    while (number >= count(modes, left)) {
      number -= count(modes, left--);
      ++here;
    }
    phonons[static_cast<std::size_t>(mode)] = here;
  }
}

}  // namespace weft::spmv
