#include "perfmodel/cache_simulation.h"

#include <catch2/catch.hpp>

namespace {

using weft::perfmodel::CacheSimulation;

/// Lines loaded in the second of two walks over `count` lines.
int loads_of_second_walk(CacheSimulation& cache, int count) {
  for (int line = 0; line < count; ++line) cache.loads_line(static_cast<std::uint64_t>(line));
  int loads = 0;
  for (int line = 0; line < count; ++line)
    loads += cache.loads_line(static_cast<std::uint64_t>(line));
  return loads;
}

}  // namespace

TEST_CASE("what fits into the cache is loaded once") {
  CacheSimulation cache(64 * CacheSimulation::line_bytes);
  CHECK(loads_of_second_walk(cache, 64) == 0);
}

TEST_CASE("a walk over more than the cache holds finds nothing again") {
  CacheSimulation cache(64 * CacheSimulation::line_bytes);
  CHECK(loads_of_second_walk(cache, 128) == 128);
}

TEST_CASE("addresses of one line are one load") {
  CacheSimulation cache(1024);
  alignas(64) const double line[16] = {};
  CHECK(cache.loads(line));
  CHECK_FALSE(cache.loads(line + 7));
  CHECK(cache.loads(line + 8));
}

TEST_CASE("what was used last stays longest") {
  CacheSimulation cache(16 * CacheSimulation::line_bytes);  // one set of 16
  for (std::uint64_t line = 0; line < 16; ++line) cache.loads_line(line);
  CHECK_FALSE(cache.loads_line(0));
  CHECK(cache.loads_line(16));  // line 1 goes
  CHECK_FALSE(cache.loads_line(0));
  CHECK(cache.loads_line(1));
}
