#include "solver/sweepers/jacobi_step.h"

#include "perfmodel/simd.h"
#include "spmv/sums/block_dot.h"

namespace weft::solver {
namespace {

using perfmodel::load;
using perfmodel::store;

struct Arrays {
  const double* b;
  const double* scale;
  const double* x;
  const double* previous;
  double* next;
};

/// Elements i … of one Value; returns the squares of r.
template <bool HasMomentum, class Value>
[[gnu::always_inline]] inline Value step(const Arrays& arrays, double momentum, std::int64_t i) {
  const Value r = load<Value>(arrays.b + i) - load<Value>(arrays.next + i);
  const Value x = load<Value>(arrays.x + i);
  Value value = x + load<Value>(arrays.scale + i) * r;
  if constexpr (HasMomentum) value += momentum * (x - load<Value>(arrays.previous + i));
  store(arrays.next + i, value);
  return r * r;
}

template <class Simd, bool HasMomentum>
[[gnu::always_inline]] inline double steps(const Arrays& arrays, double momentum,
                                           std::int64_t count) {
  return spmv::block_sum<Simd>(count,
                               [&]<class Value>(std::int64_t i) __attribute__((always_inline)) {
                                 return step<HasMomentum, Value>(arrays, momentum, i);
                               });
}

}  // namespace

double jacobi_step(const double* b, const double* scale, const double* x, const double* previous,
                   double momentum, double* next, std::int64_t count) {
  const Arrays arrays{b, scale, x, previous, next};
  double squares = 0;
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    squares = previous ? steps<Simd, true>(arrays, momentum, count)
                       : steps<Simd, false>(arrays, 0, count);
  });
  return squares;
}

}  // namespace weft::solver
