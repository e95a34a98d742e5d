#include "solver/sweepers/jacobi_step.h"

#include "perfmodel/simd.h"
#include "spmv/sums/block_dot.h"

namespace weft::solver {
namespace {

using perfmodel::Lanes;
using perfmodel::SingleLane;
using spmv::BlockSum;

struct Arrays {
  const double* b;
  const double* scale;
  const double* x;
  const double* previous;
  double* next;
};

template <class Vector>
[[gnu::always_inline]] inline Vector& at(double* array, std::int64_t i) {
  return *reinterpret_cast<Vector*>(array + i);
}
template <class Vector>
[[gnu::always_inline]] inline const Vector& at(const double* array, std::int64_t i) {
  return *reinterpret_cast<const Vector*>(array + i);
}

/// Elements i … of one Vector; adds the squares of r to `squares`.
template <bool HasMomentum, class Vector, class Sum>
[[gnu::always_inline]] inline void step(const Arrays& arrays, double momentum, std::int64_t i,
                                        Sum& squares) {
  const auto r = at<Vector>(arrays.b, i).value - at<Vector>(arrays.next, i).value;
  const auto x = at<Vector>(arrays.x, i).value;
  auto value = x + at<Vector>(arrays.scale, i).value * r;
  if constexpr (HasMomentum) value += momentum * (x - at<Vector>(arrays.previous, i).value);
  at<Vector>(arrays.next, i).value = value;
  squares += r * r;
}

template <bool HasMomentum>
[[gnu::always_inline]] inline double steps(const Arrays& arrays, double momentum,
                                           std::int64_t count) {
  BlockSum squares;
  std::int64_t i = 0;
  for (; i + BlockSum::stride <= count; i += BlockSum::stride)
    for (int j = 0; j < 4; ++j)
      step<HasMomentum, Lanes>(arrays, momentum, i + 8 * j, squares.accumulators[j]);
  for (; i + 8 <= count; i += 8)
    step<HasMomentum, Lanes>(arrays, momentum, i, squares.accumulators[i / 8 % 4]);
  for (; i < count; ++i) {
    double square = 0;
    step<HasMomentum, SingleLane>(arrays, momentum, i, square);
    squares.add(i, square);
  }
  return squares.total();
}

}  // namespace

double jacobi_step(const double* b, const double* scale, const double* x, const double* previous,
                   double momentum, double* next, std::int64_t count) {
  const Arrays arrays{b, scale, x, previous, next};
  double squares = 0;
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    squares = previous ? steps<true>(arrays, momentum, count) : steps<false>(arrays, 0, count);
  });
  return squares;
}

}  // namespace weft::solver
