#include "solver/recycle/guess_plan.h"

#include <algorithm>

namespace weft::solver {

void GuessPlan::note(std::span<const double> digits, double digits_of_iteration, double cost) {
  if (pause_ > 0) {
    --pause_;
    return;
  }
  if (digits.empty()) return;
  // The most that some of the first vectors save, in iterations.
  double saved = 0;
  double most_saved = 0;
  int best = 0;
  int number = 0;
  for (const double each : digits) {
    saved += (digits_of_iteration > 0 ? each / digits_of_iteration : 0) - cost;
    ++number;
    if (saved <= most_saved) continue;
    most_saved = saved;
    best = number;
  }
  if (best > 0) {
    count_ = std::min(best + 1, most_);
    next_pause_ = 2;
    return;
  }
  count_ = std::min(first_count, most_);
  pause_ = next_pause_;
  next_pause_ = std::min(2 * next_pause_, longest_pause);
}

}  // namespace weft::solver
