#include "solver/fused_vector_kernels.h"

#include "perfmodel/simd.h"
#include "spmv/block_dot.h"

namespace weft::solver {
namespace {

using perfmodel::Lanes;
using perfmodel::SingleLane;
using spmv::BlockSum;

/// Lanes or SingleLane at element i of an array: the same statements serve the main loop and the
/// remainder.
template <class Vector>
[[gnu::always_inline]] inline Vector& at(double* array, std::int64_t i) {
  return *reinterpret_cast<Vector*>(array + i);
}
template <class Vector>
[[gnu::always_inline]] inline const Vector& at(const double* array, std::int64_t i) {
  return *reinterpret_cast<const Vector*>(array + i);
}

/// Writes r_i = minuend_i - factor·q_i and adds its squares and products to the sums.
template <bool HasJacobi, class Vector, class Sum>
[[gnu::always_inline]] inline void residual_step(std::int64_t i, const double* minuend,
                                                 double factor, const double* q, const double* d,
                                                 double* r, Sum& squares, Sum& products) {
  const auto value = at<Vector>(minuend, i).value - factor * at<Vector>(q, i).value;
  at<Vector>(r, i).value = value;
  squares += value * value;
  if constexpr (HasJacobi) products += value * (at<Vector>(d, i).value * value);
}

template <bool HasJacobi>
[[gnu::always_inline]] inline ResidualSums residual(const double* minuend, double factor,
                                                    const double* q, const double* d, double* r,
                                                    std::int64_t count) {
  BlockSum squares;
  BlockSum products;
  std::int64_t i = 0;
  for (; i + BlockSum::stride <= count; i += BlockSum::stride)
    for (int j = 0; j < 4; ++j)
      residual_step<HasJacobi, Lanes>(i + 8 * j, minuend, factor, q, d, r, squares.accumulators[j],
                                      products.accumulators[j]);
  for (; i + 8 <= count; i += 8)
    residual_step<HasJacobi, Lanes>(i, minuend, factor, q, d, r, squares.accumulators[i / 8 % 4],
                                    products.accumulators[i / 8 % 4]);
  for (; i < count; ++i) {
    double square = 0;
    double product = 0;
    residual_step<HasJacobi, SingleLane>(i, minuend, factor, q, d, r, square, product);
    squares.add(i, square);
    products.add(i, product);
  }
  const double r_dot_r = squares.total();
  return {r_dot_r, HasJacobi ? products.total() : r_dot_r};
}

ResidualSums residual_on_widest_simd(const double* minuend, double factor, const double* q,
                                     const double* inverse_diagonal, double* r,
                                     std::int64_t count) {
  ResidualSums sums;
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    sums = inverse_diagonal ? residual<true>(minuend, factor, q, inverse_diagonal, r, count)
                            : residual<false>(minuend, factor, q, nullptr, r, count);
  });
  return sums;
}

template <bool HasJacobi, class Vector>
[[gnu::always_inline]] inline void advance_step(std::int64_t i, double alpha, double beta,
                                                const double* r, const double* d, double* x,
                                                double* p) {
  const auto direction = at<Vector>(p, i).value;
  at<Vector>(x, i).value += alpha * direction;
  if constexpr (HasJacobi)
    at<Vector>(p, i).value = at<Vector>(d, i).value * at<Vector>(r, i).value + beta * direction;
  else
    at<Vector>(p, i).value = at<Vector>(r, i).value + beta * direction;
}

template <bool HasJacobi>
[[gnu::always_inline]] inline void advance(double alpha, double beta, const double* r,
                                           const double* d, double* x, double* p,
                                           std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) advance_step<HasJacobi, Lanes>(i, alpha, beta, r, d, x, p);
  for (; i < count; ++i) advance_step<HasJacobi, SingleLane>(i, alpha, beta, r, d, x, p);
}

}  // namespace

ResidualSums update_residual(double alpha, const double* q, const double* inverse_diagonal,
                             double* r, std::int64_t count) {
  return residual_on_widest_simd(r, alpha, q, inverse_diagonal, r, count);
}

ResidualSums form_residual(const double* b, const double* q, const double* inverse_diagonal,
                           double* r, std::int64_t count) {
  return residual_on_widest_simd(b, 1.0, q, inverse_diagonal, r, count);
}

void update_solution_and_direction(double alpha, double beta, const double* r,
                                   const double* inverse_diagonal, double* x, double* p,
                                   std::int64_t count) {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    if (inverse_diagonal)
      advance<true>(alpha, beta, r, inverse_diagonal, x, p, count);
    else
      advance<false>(alpha, beta, r, nullptr, x, p, count);
  });
}

void start_direction(const double* r, const double* inverse_diagonal, double* p,
                     std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    p[i] = inverse_diagonal ? inverse_diagonal[i] * r[i] : r[i];
}

}  // namespace weft::solver
