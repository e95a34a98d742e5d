#include "comm_thread/engine/exact_accumulator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double smallest_normal = std::numeric_limits<double>::min();

double sum(const std::vector<double>& values) {
  ExactAccumulator accumulator;
  for (const double value : values) accumulator.add(value);
  return accumulator.rounded();
}

std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Random signs and fractions, biased exponents evenly in [lowest, highest].
std::vector<double> random_values(std::uint64_t seed, std::uint64_t count, std::uint64_t lowest,
                                  std::uint64_t highest) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = mix(seed * 1000003 + i);
    const std::uint64_t exponent = lowest + mix(bits) % (highest - lowest + 1);
    values.push_back(
        std::bit_cast<double>((bits & ~(std::uint64_t{0x7ff} << 52)) | exponent << 52));
  }
  return values;
}

TEST_CASE("sums of random numbers are those of an independent exact summation") {
  // Python's math.fsum, which rounds once, of the same numbers.
  struct Sample {
    std::uint64_t seed, count, lowest, highest;
    double expected;
  };
  for (const Sample& sample : {Sample{1, 1000, 1023, 1023, 0x1.60093ad72f3f1p+3},
                               Sample{2, 1000, 1000, 1060, 0x1.359c505b6dd52p+39},
                               Sample{3, 1000, 0, 60, 0x1.a3ebe7da4ac99p-963},
                               Sample{4, 1000, 500, 2000, 0x1.22cd70765557bp+978},
                               Sample{5, 3, 1, 2030, -0x1.59dd2ebe05652p+997},
                               Sample{6, 100, 0, 0, 0x1.f1cf7689055aap-1020},
                               Sample{7, 5000, 1, 2030, 0x1.3b68242802800p+1006},
                               Sample{8, 2, 1022, 1023, -0x1.87e753a99e9b6p+0}}) {
    CAPTURE(sample.seed);
    std::vector<double> values =
        random_values(sample.seed, sample.count, sample.lowest, sample.highest);
    CHECK(sum(values) == sample.expected);
    for (double& value : values) value = -value;
    CHECK(sum(values) == -sample.expected);
  }
}

TEST_CASE("sums of numbers that fit into 128 bits are those of integer arithmetic") {
  for (std::uint64_t seed = 100; seed < 150; ++seed) {
    CAPTURE(seed);
    const std::vector<double> values = random_values(seed, 200, 1023 + 60, 1023 + 110);
    __int128 exact = 0;
    for (const double value : values) exact += static_cast<__int128>(value);
    CHECK(sum(values) == static_cast<double>(exact));
  }
}

TEST_CASE("the order of the additions does not matter") {
  std::vector<double> values = random_values(9, 500, 0, 2040);
  const double expected = sum(values);
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::ranges::shuffle(values, random);
    CHECK(sum(values) == expected);
  }
}

TEST_CASE("large terms that cancel leave what is small") {
  CHECK(sum({1e308, 1, -1e308}) == 1);
  CHECK(sum({1, 1e308, 1e-300, -1e308, -1}) == 1e-300);
  CHECK(sum({largest, largest, -largest}) == largest);
  CHECK(sum({largest, smallest, -largest}) == smallest);
  CHECK(sum({0.1, 0.2, -0.3}) == 0x1p-55);
  CHECK(sum({1e16, 1, -1e16, -1}) == 0);
}

TEST_CASE("subnormal numbers are added exactly") {
  CHECK(sum({smallest}) == smallest);
  CHECK(sum({smallest, smallest, smallest}) == 3 * smallest);
  CHECK(sum({-smallest, smallest}) == 0);
  CHECK(sum({smallest_normal - smallest, smallest}) == smallest_normal);
  CHECK(sum({smallest_normal, -smallest}) == smallest_normal - smallest);
  CHECK(sum({-smallest_normal, smallest}) == smallest - smallest_normal);
  CHECK(sum({smallest_normal, smallest}) == smallest_normal + smallest);
}

TEST_CASE("one number alone comes back as it was") {
  for (int exponent = -1074; exponent <= 1023; ++exponent)
    for (const double fraction : {1.0, 1.5, 0x1.fffffffffffffp0, -0x1.0000000000001p0}) {
      CAPTURE(exponent, fraction);
      const double value = std::ldexp(fraction, exponent);
      CHECK(sum({value}) == value);
    }
}

TEST_CASE("halfway cases are rounded to even, and by anything beyond half") {
  const double half_ulp = 0x1p-53;
  CHECK(sum({1, half_ulp}) == 1);
  CHECK(sum({1, half_ulp, smallest}) == 1 + 0x1p-52);
  CHECK(sum({1, half_ulp, -smallest}) == 1);
  CHECK(sum({1 + 0x1p-52, half_ulp}) == 1 + 0x1p-51);
  CHECK(sum({1 + 0x1p-52, half_ulp, -smallest}) == 1 + 0x1p-52);
  CHECK(sum({-1, -half_ulp}) == -1);
  CHECK(sum({-1, -half_ulp, -smallest}) == -1 - 0x1p-52);
  CHECK(sum({2, -half_ulp}) == 2);
  CHECK(sum({2, -half_ulp, -smallest}) == 2 - 0x1p-52);
  CHECK(sum({0x1p53, 1}) == 0x1p53);
  CHECK(sum({0x1p53, 1, 1}) == 0x1p53 + 2);
  CHECK(sum({0x1p53, 3}) == 0x1p53 + 4);
}

TEST_CASE("halfway cases are the same wherever the digits of the sum begin") {
  for (int exponent = -1000; exponent < 960; ++exponent) {
    CAPTURE(exponent);
    const double one = std::ldexp(1.0, exponent);
    CHECK(sum({one, std::ldexp(one, -53)}) == one);
    CHECK(sum({one, std::ldexp(one, -53), smallest}) == std::ldexp(1 + 0x1p-52, exponent));
    CHECK(sum({-one, std::ldexp(-one, -53), -smallest}) == std::ldexp(-1 - 0x1p-52, exponent));
  }
}

TEST_CASE("sums beyond the largest number are infinite, those that round to it are not") {
  const double half_ulp = 0x1p970;
  CHECK(sum({largest, largest}) == infinity);
  CHECK(sum({-largest, -largest}) == -infinity);
  CHECK(sum({largest, half_ulp}) == infinity);
  CHECK(sum({largest, half_ulp, -smallest}) == largest);
}

TEST_CASE("infinities and NaN behave as in ordinary additions") {
  CHECK(sum({1, infinity, -1e308}) == infinity);
  CHECK(sum({1, -infinity, 1e308}) == -infinity);
  CHECK(std::isnan(sum({infinity, 1, -infinity})));
  CHECK(std::isnan(sum({1, nan, 2})));
  CHECK(std::isnan(sum({nan, infinity})));
}

TEST_CASE("sums of nothing are zero, also after clearing") {
  CHECK(sum({}) == 0);
  CHECK(sum({0.0, -0.0}) == 0);
  ExactAccumulator accumulator;
  accumulator.add(nan);
  accumulator.add(1e300);
  accumulator.clear();
  CHECK(accumulator.rounded() == 0);
}

TEST_CASE("normalising changes the digits and not the sum") {
  for (const double sign : {1.0, -1.0}) {
    ExactAccumulator accumulator;
    for (const double value : random_values(10, 300, 900, 1100))
      accumulator.add(sign * std::abs(value));
    const double before = accumulator.rounded();
    accumulator.normalise();
    CHECK(accumulator.rounded() == before);
    const auto words = accumulator.words();
    for (std::size_t i = 0; i + 1 < ExactAccumulator::digit_count; ++i) {
      CHECK(words[i] >= 0);
      CHECK(words[i] < std::int64_t{1} << 32);
    }
    CHECK((words[ExactAccumulator::digit_count - 1] < 0) == (sign < 0));
  }
}

TEST_CASE("accumulators that meet hold the sum of both") {
  const std::vector<double> values = random_values(11, 999, 1, 2040);
  std::vector<ExactAccumulator> parts(7);
  for (std::size_t i = 0; i < values.size(); ++i) parts[i % parts.size()].add(values[i]);
  ExactAccumulator all;
  for (ExactAccumulator& part : parts) {
    part.normalise();
    all.add_words(part.words());
  }
  CHECK(all.rounded() == sum(values));
  parts[0].add(infinity);
  all.add_words(parts[0].words());
  CHECK(all.rounded() == infinity);
}

TEST_CASE("many additions between two carries do not overflow") {
  ExactAccumulator accumulator;
  const double value = 0x1.fffffffffffffp31;
  constexpr int count = 1 << 20;
  for (int i = 0; i < count; ++i) accumulator.add(-value);
  CHECK(accumulator.rounded() == -value * count);
}

}  // namespace
}  // namespace weft::comm_thread
