#include "solver/sweep/halo_period_choice.h"

#include <algorithm>
#include <cmath>

namespace weft::solver {

void HaloPeriodChoice::add(const Sweep& sweep) {
  sum_.sweep_seconds += sweep.sweep_seconds;
  sum_.copy_seconds += sweep.copy_seconds;
  sum_.sent_count += sweep.sent_count;
  sum_.skipped_count += sweep.skipped_count;
  sum_.unpacked_count += sweep.unpacked_count;
  ++sweep_count_;
  if (sweep.sent_count + sweep.skipped_count > 0) ++round_count_;
  if (sweep_count_ >= window && round_count_ > 0) choose();
}

void HaloPeriodChoice::choose() {
  copying_period_ = copying_period();
  room_period_ = room_period();
  const double wanted = std::clamp(std::max(copying_period_, room_period_), 1.0, 1.0 * longest);
  period_ = std::clamp(static_cast<int>(std::ceil(wanted)), (period_ + 1) / 2,
                       std::min(2 * period_, longest));
  sum_ = {};
  sweep_count_ = round_count_ = 0;
}

/// As in the last window where nothing was copied in this one.
double HaloPeriodChoice::copying_period() {
  const auto copies = static_cast<double>(sum_.sent_count + sum_.unpacked_count);
  if (copies == 0 || sum_.sweep_seconds <= 0) return copying_period_;
  least_copy_seconds_ = std::min(least_copy_seconds_, sum_.copy_seconds / copies);
  const double messages = static_cast<double>(sum_.sent_count + sum_.skipped_count) / round_count_;
  const double sweep_seconds = sum_.sweep_seconds / sweep_count_;
  return 2 * messages * least_copy_seconds_ / (most_copying_fraction * sweep_seconds);
}

double HaloPeriodChoice::room_period() const {
  if (sum_.skipped_count == 0) return std::max(1.0, room_period_ * 7 / 8);
  const auto tried = static_cast<double>(sum_.sent_count + sum_.skipped_count);
  const auto sent = static_cast<double>(sum_.sent_count);
  const double needed = sent > 0 ? period_ * tried / sent : 1.0 * longest;
  return std::min(needed, 1.0 * longest);
}

}  // namespace weft::solver
