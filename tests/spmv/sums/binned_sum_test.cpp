#include "spmv/sums/binned_sum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/exact_accumulator.h"
#include "perfmodel/simd.h"
#include "spmv/problems/random_numbers.h"
#include "tests/support/grid_reference.h"

namespace weft::spmv {
namespace {

using comm_thread::ExactAccumulator;

constexpr double bound = 3.7;

/// From -bound to bound, of very different sizes.
std::vector<double> random_values(GlobalIndex count) {
  std::vector<double> values;
  for (GlobalIndex i = 0; i < count; ++i)
    values.push_back((i % 3 == 0 ? -1 : 1) *
                     std::ldexp(bound * uniform(1, i), -static_cast<int>(i % 97)));
  return values;
}

std::vector<double> shuffled(std::vector<double> values, std::uint64_t seed) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[random_bits(seed, static_cast<GlobalIndex>(i)) % i]);
  return values;
}

/// `lanes_of_8` groups of eight as lanes, the rest one by one; flushed after every `period` adds.
double sum_up(const std::vector<double>& values, std::size_t lanes_of_8, std::size_t period) {
  ExactAccumulator total;
  BinnedSum sum(bound);
  std::size_t adds = 0;
  const auto count = [&] {
    if (++adds % period == 0) sum.flush(total);
  };
  for (std::size_t i = 0; i < lanes_of_8; ++i, count())
    add_terms(sum, 8, [&]<class Value>(std::ptrdiff_t lane) {
      return perfmodel::load<Value>(values.data() + 8 * i + lane);
    });
  for (std::size_t i = 8 * lanes_of_8; i < values.size(); ++i, count()) sum.add(values[i]);
  sum.flush(total);
  return total.rounded();
}

TEST_CASE("the sum does not depend on order, lanes or how often it is flushed") {
  const std::vector<double> values = random_values(1003);
  const double expected = tests::binned_sum(values, bound);
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (const std::size_t lanes_of_8 : {0U, 1U, 77U, 125U})
      for (const std::size_t period : {1U, 13U, 100000U})
        CHECK(sum_up(shuffled(values, seed), lanes_of_8, period) == expected);
}

TEST_CASE("the sum is exact but for what is far below the bound") {
  for (const GlobalIndex count : {1, 2, 10, 1003}) {
    std::vector<double> values = random_values(count);
    for (double& value : values) value = std::abs(value);
    const double exact = tests::exact_sum(values);
    const double sum = sum_up(values, 0, 7);
    CHECK(std::abs(sum - exact) <= 1e-12 * exact);
  }
}

TEST_CASE("each addend is rounded to a multiple of 2^-104 of the power of two above the bound") {
  const double unit = std::ldexp(4.0, -104);
  CHECK(sum_up({3.7}, 0, 1) == 3.7);
  CHECK(sum_up({unit}, 0, 1) == unit);
  CHECK(sum_up({0.75 * unit}, 0, 1) == unit);
  CHECK(sum_up(std::vector<double>(1000, 0.25 * unit), 0, 1) == 0);
  // After cancellation, the bits remain that an ordinary sum would have lost.
  CHECK(sum_up({1.0, unit, -1.0}, 0, 100) == unit);
}

TEST_CASE("a flushed sum begins again from zero") {
  BinnedSum sum(bound);
  ExactAccumulator first, second;
  sum.add(1.5);
  sum.flush(first);
  sum.add(0.25);
  sum.flush(second);
  CHECK(first.rounded() == 1.5);
  CHECK(second.rounded() == 0.25);
}

TEST_CASE("the largest addends allowed are summed exactly, thousands of them") {
  const std::vector<double> values(30000, std::nextafter(4.0, 0.0));
  CHECK(sum_up(values, 0, 1000000) == tests::exact_sum(values));
}

TEST_CASE("addends far above the bound are summed exactly, further above as well as elsewhere") {
  const double allowed = std::ldexp(bound, 25);
  CHECK(sum_up({allowed, -1.0, -allowed}, 0, 100) == -1.0);
  CHECK(sum_up({-allowed, 3.0}, 0, 100) == 3.0 - allowed);
  for (int power = 26; power < 300; ++power) {
    std::vector<double> values(100, std::ldexp(bound, power) / 3);
    values.push_back(1);
    const double exact = tests::exact_sum(values);
    CHECK(std::abs(sum_up(values, 3, 1000) - exact) <= 1e-12 * exact);
  }
}

TEST_CASE("bounds at the ends of the range of doubles") {
  const double smallest = std::numeric_limits<double>::denorm_min();
  const double largest = std::numeric_limits<double>::max();
  const auto sum_below = [](double limit, const std::vector<double>& values) {
    CloseSum sum(limit);
    ExactAccumulator total;
    for (const double value : values) sum.add(value);
    sum.flush(total);
    return total.rounded();
  };
  CHECK(sum_below(0, {0.0, 0.0}) == 0);
  CHECK(sum_below(smallest, {smallest, 2 * smallest}) == 3 * smallest);
  CHECK(sum_below(1e-310, std::vector<double>(1000, 1e-313)) == 1000 * 1e-313);
  // The first bin has no room for its shift above such sums, so that they round.
  CHECK(std::abs(sum_below(largest, {largest / 4, largest / 2}) / largest - 0.75) <= 1e-15);
  const double large = std::ldexp(largest, -5);
  CHECK(sum_below(large, {large / 4, large / 2}) == 0.75 * large);
  CHECK(sum_below(std::numeric_limits<double>::infinity(), {0.25}) == 0.25);
}

TEST_CASE("thousands of additions between two carries, and any number with them") {
  for (const std::ptrdiff_t count : {8000, 65536, 1000003}) {
    CloseSum sum(bound);
    std::vector<double> all;
    for (std::ptrdiff_t i = 0; i < count; ++i)
      // The largest rest that the first bin leaves, downwards and upwards.
      all.push_back((i % 2 == 0 ? 1 : 3) * std::ldexp(1.0, 1 - 26) + std::ldexp(1.0, -70));
    add_terms(sum, count, [&]<class Value>(std::ptrdiff_t i) {
      return perfmodel::load<Value>(all.data() + i);
    });
    ExactAccumulator total;
    sum.flush(total);
    CHECK(total.rounded() == tests::exact_sum(all));
  }
}

TEST_CASE("every width of registers makes the same sum, also of cancelling and of many addends") {
  const std::vector<double> values = random_values(200011);
  const auto sum_with = [&]<class Simd>() {
    CloseSum close(bound);
    BinnedSum wide(bound);
    {
      CloseSum::In<Simd> a(close);
      BinnedSum::In<Simd> b(wide);
      for_lanes_of_sums<Simd>(
          std::ssize(values),
          [&]<class Value>(std::ptrdiff_t i) {
            const Value value = perfmodel::load<Value>(values.data() + i);
            a.add(value);
            b.add(value);
          },
          a, b);
      a.store(close);
      b.store(wide);
    }
    ExactAccumulator first, second;
    close.flush(first);
    wide.flush(second);
    return std::pair(first.rounded(), second.rounded());
  };
  const auto expected = sum_with.operator()<perfmodel::SimdOf<16>>();
  CHECK(expected.second == tests::binned_sum(values, bound));
  CHECK(sum_with.operator()<perfmodel::SimdOf<32>>() == expected);
  CHECK(sum_with.operator()<perfmodel::SimdOf<64>>() == expected);
}

TEST_CASE("what is not finite shows in the sum") {
  for (const double value :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_FALSE(std::isfinite(sum_up({1.0, value, 2.0}, 0, 100)));
    CHECK_FALSE(std::isfinite(sum_up({1, 2, 3, 4, value, 6, 7, 8, 9}, 1, 100)));
  }
}

}  // namespace
}  // namespace weft::spmv
