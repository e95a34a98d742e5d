#include "spmv/problems/random_numbers.h"

#include <cstdint>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

// SplitMix64 as published: a state that grows.
struct SplitMix64 {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
};

TEST_CASE("random bits are the outputs of SplitMix64 started at its first output") {
  CHECK(SplitMix64{0}.next() == 0xe220a8397b1dcdaf);
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    SplitMix64 generator{SplitMix64{seed}.next()};
    for (GlobalIndex index = 0; index < 5; ++index)
      CHECK(random_bits(seed, index) == generator.next());
  }
}

TEST_CASE("uniform numbers are the upper 53 bits, in [0, 1)") {
  for (GlobalIndex index = 0; index < 1000; ++index) {
    const double number = uniform(7, index);
    CHECK(number >= 0);
    CHECK(number < 1);
    CHECK(number * 0x1p53 == static_cast<double>(random_bits(7, index) >> 11));
  }
}

TEST_CASE("uniform numbers fill ten equal bins equally") {
  int bins[10] = {};
  for (GlobalIndex index = 0; index < 100000; ++index)
    ++bins[static_cast<int>(uniform(1, index) * 10)];
  for (const int bin : bins) CHECK(bin == Approx(10000).margin(500));
}

TEST_CASE("another seed or another index gives another number") {
  CHECK(uniform(1, 0) != uniform(2, 0));
  CHECK(uniform(1, 0) != uniform(1, 1));
  CHECK(uniform(1, GlobalIndex{1} << 40) != uniform(1, 0));
}

}  // namespace
}  // namespace weft::spmv
