#include "comm_thread/termination/contribution_history.h"

#include <algorithm>
#include <limits>

namespace weft::comm_thread {

void ContributionHistory::record(double seconds, double contribution, std::uint64_t iteration) {
  if (recorded_count_++ % interval_ != 0) return;
  if (samples_.size() == most_samples_) keep_every_second();
  samples_.push_back({seconds, contribution, iteration});
}

void ContributionHistory::keep_every_second() {
  for (std::size_t i = 0; i < most_samples_ / 2; ++i) samples_[i] = samples_[2 * i];
  samples_.resize(most_samples_ / 2);
  interval_ *= 2;
}

const ContributionHistory::Sample* ContributionHistory::newest_at(double seconds) const {
  const auto later =
      std::upper_bound(samples_.begin(), samples_.end(), seconds,
                       [](double limit, const Sample& sample) { return limit < sample.seconds; });
  return later == samples_.begin() ? nullptr : &*(later - 1);
}

double ContributionHistory::contribution_at(double seconds) const {
  const Sample* sample = newest_at(seconds);
  return sample ? sample->contribution : std::numeric_limits<double>::infinity();
}

std::uint64_t ContributionHistory::iteration_at(double seconds) const {
  const Sample* sample = newest_at(seconds);
  return sample ? sample->iteration : 0;
}

}  // namespace weft::comm_thread
