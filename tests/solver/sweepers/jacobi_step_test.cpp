#include "solver/sweepers/jacobi_step.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/sums/block_dot.h"

namespace weft::solver {
namespace {

using Vector = std::vector<double>;

Vector make(std::int64_t count, double phase) {
  Vector vector;
  for (std::int64_t i = 0; i < count; ++i)
    vector.push_back(std::sin(phase + static_cast<double>(i)) *
                     std::exp(static_cast<double>(i % 5)));
  return vector;
}

TEST_CASE("a step is that of its formula, and squares are summed in block order") {
  for (const std::int64_t count : {0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 100, 1000})
    for (const bool has_momentum : {false, true}) {
      CAPTURE(count, has_momentum);
      const Vector b = make(count, 1), scale = make(count, 2), x = make(count, 3),
                   previous = make(count, 4), product = make(count, 5);
      Vector r = b, expected = x;
      for (std::size_t i = 0; i < r.size(); ++i) {
        r[i] -= product[i];
        expected[i] += scale[i] * r[i];
        if (has_momentum) expected[i] += 0.3 * (x[i] - previous[i]);
      }
      Vector next = product;
      const double square =
          jacobi_step(b.data(), scale.data(), x.data(), has_momentum ? previous.data() : nullptr,
                      has_momentum ? 0.3 : 0, next.data(), count);
      CHECK(next == expected);
      CHECK(square == spmv::block_dot(r.data(), r.data(), count));
    }
}

}  // namespace
}  // namespace weft::solver
