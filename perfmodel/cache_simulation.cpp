#include "perfmodel/cache_simulation.h"

#include <algorithm>

namespace weft::perfmodel {

CacheSimulation::CacheSimulation(std::size_t bytes)
    : set_count_(std::max<std::size_t>(1, bytes / (line_bytes * ways))),
      lines_(set_count_ * ways, nothing) {}

bool CacheSimulation::loads_line(std::uint64_t line) {
  std::uint64_t* const set = lines_.data() + line % set_count_ * ways;
  std::uint64_t* const end = set + ways;
  std::uint64_t* const place = std::find(set, end, line);
  const bool is_missing = place == end;
  // Newer lines move back by one; if the line is new, the oldest is evicted.
  std::move_backward(set, is_missing ? end - 1 : place, is_missing ? end : place + 1);
  *set = line;
  return is_missing;
}

}  // namespace weft::perfmodel
