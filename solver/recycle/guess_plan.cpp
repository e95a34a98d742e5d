#include "solver/recycle/guess_plan.h"

#include <algorithm>
#include <cmath>

namespace weft::solver {

void GuessPlan::note(std::span<const double> digits, double digits_of_iteration,
                     const Costs& costs) {
  if (pause_ > 0) {
    --pause_;
    return;
  }
  if (digits.empty()) return;
  // The most that some of the first vectors save, in iterations.
  double saved = -costs.of_guess;
  double most_saved = 0;
  int best = 0;
  int number = 0;
  for (const double each : digits) {
    saved += (digits_of_iteration > 0 ? each / digits_of_iteration : 0) - costs.of_vector;
    ++number;
    if (saved <= most_saved) continue;
    most_saved = saved;
    best = number;
  }
  if (best > 0) {
    count_ = std::min(best + 1, most_);
    return;
  }
  if (number < std::min(first_count, most_)) return;  // there were no more yet
  count_ = std::min(first_count, most_);
  const double solves =
      costs.of_solve > 0 ? std::ceil(-saved / (share_of_loss * costs.of_solve)) : longest_pause;
  pause_ = static_cast<int>(std::clamp(solves - 1, shortest_pause, longest_pause));
}

}  // namespace weft::solver
