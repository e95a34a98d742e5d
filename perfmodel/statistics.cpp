#include "perfmodel/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace weft::perfmodel {
namespace {

/// Linear interpolation between the samples around `fraction` of the way.
double quantile(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

Statistics summarise(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.75) - quantile(samples, 0.25)};
}

double median(std::vector<double> samples) { return summarise(std::move(samples)).median; }

}  // namespace weft::perfmodel
