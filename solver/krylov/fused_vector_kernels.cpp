#include "solver/krylov/fused_vector_kernels.h"

#include "perfmodel/simd.h"

namespace weft::solver {
namespace {

using perfmodel::elements;
using perfmodel::for_lanes;
using spmv::BinnedSum;

/// Writes r_i = minuend_i - factor·q_i, or minuend_i where q is null, and adds to the sums.
template <bool has_jacobi, bool has_q>
[[gnu::always_inline]] inline void residual(const double* minuend, double factor, const double* q,
                                            const double* d, double* r, std::int64_t count,
                                            ResidualSums& sums) {
  ResidualSums local = sums;  // in registers
  for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
    auto value = elements<Elements>(minuend + i).value;
    if constexpr (has_q) value -= factor * elements<Elements>(q + i).value;
    elements<Elements>(r + i).value = value;
    local.r_dot_r.add(value * value);
    if constexpr (has_jacobi) local.r_dot_z.add(value * (elements<Elements>(d + i).value * value));
  });
  local.carry();
  sums = local;
}

template <bool has_q>
void residual_on_widest_simd(const double* minuend, double factor, const double* q,
                             const double* inverse_diagonal, double* r, std::int64_t count,
                             ResidualSums& sums) {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    if (inverse_diagonal)
      residual<true, has_q>(minuend, factor, q, inverse_diagonal, r, count, sums);
    else
      residual<false, has_q>(minuend, factor, q, nullptr, r, count, sums);
  });
}

template <bool has_jacobi>
[[gnu::always_inline]] inline void advance(double alpha, double beta, const double* r,
                                           const double* d, double* x, double* p,
                                           std::int64_t count) {
  for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
    const auto direction = elements<Elements>(p + i).value;
    elements<Elements>(x + i).value += alpha * direction;
    auto z = elements<Elements>(r + i).value;
    if constexpr (has_jacobi) z = elements<Elements>(d + i).value * z;
    elements<Elements>(p + i).value = z + beta * direction;
  });
}

}  // namespace

void update_residual(double alpha, const double* q, const double* inverse_diagonal, double* r,
                     std::int64_t count, ResidualSums& sums) {
  residual_on_widest_simd<true>(r, alpha, q, inverse_diagonal, r, count, sums);
}

void start_residual(const double* b, const double* inverse_diagonal, double* r, std::int64_t count,
                    ResidualSums& sums) {
  residual_on_widest_simd<false>(b, 0, nullptr, inverse_diagonal, r, count, sums);
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

void update_solution(double alpha, const double* p, double* x, std::int64_t count) {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      elements<Elements>(x + i).value += alpha * elements<Elements>(p + i).value;
    });
  });
}

void add_product(const double* a, const double* b, std::int64_t count, BinnedSum& sum) {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    BinnedSum local = sum;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      local.add(elements<Elements>(a + i).value * elements<Elements>(b + i).value);
    });
    local.carry();
    sum = local;
  });
}

void add_square(const double* a, std::int64_t count, BinnedSum& sum) {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    BinnedSum local = sum;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      local.add(elements<Elements>(a + i).value * elements<Elements>(a + i).value);
    });
    local.carry();
    sum = local;
  });
}

void add_difference_square(const double* a, const double* b, std::int64_t count, BinnedSum& sum) {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    BinnedSum local = sum;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      const auto difference = elements<Elements>(a + i).value - elements<Elements>(b + i).value;
      local.add(difference * difference);
    });
    local.carry();
    sum = local;
  });
}

}  // namespace weft::solver
