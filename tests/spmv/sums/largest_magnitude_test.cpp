#include "spmv/sums/largest_magnitude.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "perfmodel/simd.h"

namespace weft::spmv {
namespace {

template <bool keeps_nan>
double largest_of(const std::vector<double>& values, double before = 0) {
  return largest_magnitude<keeps_nan>(
      static_cast<std::ptrdiff_t>(values.size()),
      [&]<class Value>(std::ptrdiff_t i)
          __attribute__((always_inline)) { return perfmodel::load<Value>(values.data() + i); },
      before);
}

TEST_CASE("the largest magnitude is found at any place, and a NaN kept where that is asked for") {
  for (const std::size_t count : {1UL, 7UL, 8UL, 19UL, 32UL}) {
    for (std::size_t at = 0; at < count; ++at) {
      CAPTURE(count, at);
      std::vector<double> values(count, 0.5);
      values[at] = -3;
      CHECK(largest_of<false>(values) == 3);
      CHECK(largest_of<true>(values) == 3);
      CHECK(largest_of<false>(values, 4) == 4);
      values[at] = std::numeric_limits<double>::infinity();
      CHECK(largest_of<true>(values) == values[at]);
      values[at] = std::numeric_limits<double>::quiet_NaN();
      CHECK(largest_of<false>(values) == (count == 1 ? 0 : 0.5));
      CHECK(std::isnan(largest_of<true>(values)));
      CHECK(std::isnan(largest_of<true>({0.5, 0.25}, values[at])));
    }
  }
  CHECK(largest_of<true>({}) == 0);
}

}  // namespace
}  // namespace weft::spmv
