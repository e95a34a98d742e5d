#include "library/solve/time_limit.h"

#include <algorithm>

namespace weft::library {
namespace {

constexpr double seconds_between_agreements = 0.02;

}  // namespace

void TimeLimit::start() {
  watch_ = {};
  iterations_ = 0;
  next_ = 1;
  is_over_ = false;
}

bool TimeLimit::collective_is_over() {
  if (++iterations_ < next_) return is_over_;
  const double seconds = ranks_.max(watch_.seconds());
  is_over_ = seconds >= limit_seconds_;
  const double each = seconds / static_cast<double>(iterations_);
  const double until = std::clamp(limit_seconds_ - seconds, 0.0, seconds_between_agreements);
  const auto most = static_cast<double>(iterations_);
  const double steps = each > 0 ? std::min(until / each, most) : most;
  next_ = iterations_ + std::max<std::int64_t>(1, static_cast<std::int64_t>(steps));
  return is_over_;
}

}  // namespace weft::library
