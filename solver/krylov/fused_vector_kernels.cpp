#include "solver/krylov/fused_vector_kernels.h"

#include "perfmodel/fetch.h"
#include "perfmodel/simd.h"

namespace weft::solver {
namespace {

using perfmodel::for_lanes;
using perfmodel::load;
using perfmodel::store;
using spmv::BinnedSum;
using spmv::CloseSum;
using spmv::for_lanes_of_sums;

/// Writes r_i = minuend_i - factor·q_i, or minuend_i where q is null, and adds to the sums.
template <class Simd, bool has_jacobi, bool has_q>
[[gnu::always_inline]] inline void residual(const double* minuend, double factor, const double* q,
                                            const double* d, double* r, std::int64_t count,
                                            ResidualSums& sums) {
  CloseSum::In<Simd> r_dot_r(sums.r_dot_r);
  CloseSum::In<Simd> r_dot_z(sums.r_dot_z);
  const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
    auto value = load<Value>(minuend + i);
    if constexpr (has_q) value -= factor * load<Value>(q + i);
    store(r + i, value);
    r_dot_r.add(value * value);
    if constexpr (has_jacobi) r_dot_z.add(value * (load<Value>(d + i) * value));
  };
  for_lanes_of_sums<Simd>(count, step, r_dot_r, r_dot_z);
  r_dot_r.store(sums.r_dot_r);
  if constexpr (has_jacobi) r_dot_z.store(sums.r_dot_z);
}

template <bool has_q>
void residual_on_widest_simd(const double* minuend, double factor, const double* q,
                             const double* inverse_diagonal, double* r, std::int64_t count,
                             ResidualSums& sums) {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    if (inverse_diagonal)
      residual<Simd, true, has_q>(minuend, factor, q, inverse_diagonal, r, count, sums);
    else
      residual<Simd, false, has_q>(minuend, factor, q, nullptr, r, count, sums);
  });
}

template <class Simd, bool has_jacobi>
[[gnu::always_inline]] inline void advance(double alpha, double beta, const double* r,
                                           const double* d, double* x, double* p,
                                           std::int64_t count) {
  for_lanes<Simd>(count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
    const auto direction = load<Value>(p + i);
    store(x + i, load<Value>(x + i) + alpha * direction);
    auto z = load<Value>(r + i);
    if constexpr (has_jacobi) z = load<Value>(d + i) * z;
    store(p + i, z + beta * direction);
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
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    if (inverse_diagonal)
      advance<Simd, true>(alpha, beta, r, inverse_diagonal, x, p, count);
    else
      advance<Simd, false>(alpha, beta, r, nullptr, x, p, count);
  });
}

void update_solution(double alpha, const double* p, double* x, std::int64_t count) {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    for_lanes<Simd>(count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      store(x + i, load<Value>(x + i) + alpha * load<Value>(p + i));
    });
  });
}

template <class Sum>
void add_product(const double* a, const double* b, std::int64_t count, Sum& sum) {
  // r·z after a cycle of multigrid, whose rows of a grid are short, ran at 10 to 15 GB/s a core on
  // Zen 5, where passes over more arrays reach 60: CG with multigrid on poisson3d:160 takes 0.91 of
  // the time with prefetches, varying couplings 0.97; 1.00 with amg, whose segments are long.
  constexpr std::ptrdiff_t ahead = 512;
  spmv::add_terms(sum, count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
    __builtin_prefetch(a + i + ahead);
    __builtin_prefetch(b + i + ahead);
    return load<Value>(a + i) * load<Value>(b + i);
  });
}
template void add_product(const double*, const double*, std::int64_t, BinnedSum&);
template void add_product(const double*, const double*, std::int64_t, CloseSum&);

template <class Sum>
void add_scaled_product(const double* d, const double* a, const double* e, const double* b,
                        std::int64_t count, Sum& sum) {
  if (!d && !e) return add_product(a, b, count, sum);
  spmv::add_terms(sum, count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
    auto left = load<Value>(a + i);
    auto right = load<Value>(b + i);
    if (d) left = load<Value>(d + i) * left;
    if (e) right = load<Value>(e + i) * right;
    return left * right;
  });
}
template void add_scaled_product(const double*, const double*, const double*, const double*,
                                 std::int64_t, BinnedSum&);
template void add_scaled_product(const double*, const double*, const double*, const double*,
                                 std::int64_t, CloseSum&);

void add_square(const double* a, std::int64_t count, BinnedSum& sum) {
  spmv::add_terms(sum, count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
    // Some hardware prefetchers do not keep up with a single stream.
    perfmodel::fetch<Value>(i, a + perfmodel::fetch_lead);
    return load<Value>(a + i) * load<Value>(a + i);
  });
}

void add_difference_square(const double* a, const double* b, std::int64_t count, BinnedSum& sum) {
  spmv::add_terms(sum, count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
    const auto difference = load<Value>(a + i) - load<Value>(b + i);
    return difference * difference;
  });
}

}  // namespace weft::solver
