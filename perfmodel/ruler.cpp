#include "perfmodel/ruler.h"

#include <fmt/format.h>

namespace weft::perfmodel {

double least_cache_to_memory(std::size_t vector_bytes) { return vector_bytes > 16 ? 4 : 3; }

bool is_quicker_than_memory(double cache_rate, double memory_rate) {
  constexpr double least_gain = 1.5;
  return cache_rate >= least_gain * memory_rate;
}

std::optional<std::string> fault_of_probes(const ProbeSpeed& speed) {
  if (speed.array_bytes <= speed.cache_bytes) return std::nullopt;
  const double least = least_cache_to_memory(speed.vector_bytes);
  const double ratio = speed.cache_bytes_per_second / speed.memory_bytes_per_second;
  if (ratio >= least) return std::nullopt;
  return fmt::format(
      "the probes are held back: a core loads {:.3g} GB/s from its first-level cache, only {:.2g} "
      "times the {:.3g} from memory; at least {:g} times are expected, so that the measured "
      "bandwidths are too low to judge a kernel by",
      1e-9 * speed.cache_bytes_per_second, ratio, 1e-9 * speed.memory_bytes_per_second, least);
}

}  // namespace weft::perfmodel
