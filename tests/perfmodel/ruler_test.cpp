#include "perfmodel/ruler.h"

#include <catch2/catch.hpp>

using weft::perfmodel::fault_of_probes;
using weft::perfmodel::is_quicker_than_memory;
using weft::perfmodel::ProbeSpeed;

namespace {

ProbeSpeed speed(double cache_gb, double memory_gb, std::size_t vector_bytes) {
  return {.cache_bytes_per_second = 1e9 * cache_gb,
          .memory_bytes_per_second = 1e9 * memory_gb,
          .vector_bytes = vector_bytes,
          .array_bytes = 512e6,
          .cache_bytes = 32e6};
}

}  // namespace

TEST_CASE("probes several times as fast from cache as from memory measure memory") {
  CHECK_FALSE(fault_of_probes(speed(520, 41, 64)));
  CHECK_FALSE(fault_of_probes(speed(264, 19, 32)));
  CHECK_FALSE(fault_of_probes(speed(132, 40, 16)));
}

TEST_CASE("probes about as fast from cache as from memory are held back") {
  const auto fault = fault_of_probes(speed(31, 12, 32));
  REQUIRE(fault);
  CHECK_THAT(*fault, Catch::Contains("the probes are held back: a core loads 31 GB/s"));
  CHECK_THAT(*fault, Catch::Contains("only 2.6 times the 12 from memory; at least 4 times"));
  CHECK(fault_of_probes(speed(26, 25, 32)));
  CHECK(fault_of_probes(speed(47, 32, 16)));
  CHECK(fault_of_probes(speed(132, 40, 32)));
}

TEST_CASE("arrays that fit into the caches say nothing about the probes") {
  ProbeSpeed small = speed(120, 100, 64);
  small.array_bytes = 8e6;
  CHECK_FALSE(fault_of_probes(small));
}

TEST_CASE("a last-level cache that is hardly quicker than memory does not count as a cache") {
  CHECK(is_quicker_than_memory(232, 70));
  CHECK(is_quicker_than_memory(60, 40));
  CHECK_FALSE(is_quicker_than_memory(34.4, 29.5));
}
