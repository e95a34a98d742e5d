#include "spmv/sums/block_dot.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

/// The order that block_dot promises, written with plain loops.
double expected_dot(const std::vector<double>& a, const std::vector<double>& b,
                    std::int64_t count) {
  double sums[4][8] = {};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto place = static_cast<std::size_t>(i);
    sums[i / 8 % 4][i % 8] += a[place] * b[place];
  }
  double lanes[8];
  for (int lane = 0; lane < 8; ++lane)
    lanes[lane] = (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

TEST_CASE("every length is summed in the promised order, to the last bit") {
  std::vector<double> a, b;
  for (int i = 0; i < 300; ++i) {
    a.push_back(std::sin(i + 0.1) * std::exp(i % 13));
    b.push_back(std::cos(3 * i) / (1 + i % 7));
  }
  for (std::int64_t count = 0; count <= 300; ++count) {
    CAPTURE(count);
    CHECK(block_dot(a.data(), b.data(), count) == expected_dot(a, b, count));
  }
}

TEST_CASE("arrays may begin at any element") {
  std::vector<double> a(100), b(100);
  for (std::size_t i = 0; i < 100; ++i) {
    a[i] = 1 / (1.0 + static_cast<double>(i));
    b[i] = static_cast<double>(i % 11);
  }
  for (std::size_t begin = 0; begin < 9; ++begin) {
    const std::vector<double> from(a.begin() + static_cast<std::ptrdiff_t>(begin), a.end());
    const std::vector<double> with(b.begin() + static_cast<std::ptrdiff_t>(begin), b.end());
    CHECK(block_dot(a.data() + begin, b.data() + begin, 91) == expected_dot(from, with, 91));
  }
}

}  // namespace
}  // namespace weft::spmv
