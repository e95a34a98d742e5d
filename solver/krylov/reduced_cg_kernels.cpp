#include "solver/krylov/reduced_cg_kernels.h"

#include <type_traits>

#include "perfmodel/simd.h"

namespace weft::solver {
namespace {

using perfmodel::load;
using perfmodel::store;
using spmv::CloseSum;
using spmv::for_lanes_of_sums;

/// Calls body<Simd>(has_scaling) with a constant, compiled for the widest instruction set.
template <class Body>
void with_scaling(const double* d, const Body& body) {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    if (d)
      body.template operator()<Simd>(std::true_type{});
    else
      body.template operator()<Simd>(std::false_type{});
  });
}

}  // namespace

void add_squares_of_u(const double* u, const double* d, std::int64_t count, CloseSum& r_dot_r,
                      CloseSum& r_dot_u) {
  with_scaling(d, [&]<class Simd>(auto scaling) __attribute__((always_inline)) {
    CloseSum::In<Simd> rr(r_dot_r);
    CloseSum::In<Simd> ru(r_dot_u);
    const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      const auto value = load<Value>(u + i);
      auto r = value;
      if constexpr (decltype(scaling)::value) r = load<Value>(d + i) * value;
      rr.add(r * r);
      if constexpr (decltype(scaling)::value) ru.add(r * value);
    };
    for_lanes_of_sums<Simd>(count, step, rr, ru);
    rr.store(r_dot_r);
    if constexpr (decltype(scaling)::value) ru.store(r_dot_u);
  });
}

void add_product(const double* a, const double* b, std::int64_t count, CloseSum& sum) {
  spmv::add_terms(sum, count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
    return load<Value>(a + i) * load<Value>(b + i);
  });
}

void chronopoulos_gear_pass(double alpha, double beta, const ChronopoulosGearArrays& v,
                            const double* d, const double* d_inverse, std::int64_t count,
                            CloseSum& r_dot_r, CloseSum& r_dot_u) {
  with_scaling(d, [&]<class Simd>(auto scaling) __attribute__((always_inline)) {
    constexpr bool is_scaled = decltype(scaling)::value;
    CloseSum::In<Simd> rr(r_dot_r);
    CloseSum::In<Simd> ru(r_dot_u);
    const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      auto u = load<Value>(v.u + i);
      const auto p = u + beta * load<Value>(v.p + i);
      const auto s = load<Value>(v.w + i) + beta * load<Value>(v.s + i);
      store(v.p + i, p);
      store(v.s + i, s);
      store(v.x + i, load<Value>(v.x + i) + alpha * p);
      if constexpr (is_scaled)
        u -= alpha * (load<Value>(d_inverse + i) * s);
      else
        u -= alpha * s;
      store(v.u + i, u);
      auto r = u;
      if constexpr (is_scaled) r = load<Value>(d + i) * u;
      rr.add(r * r);
      if constexpr (is_scaled) ru.add(r * u);
    };
    for_lanes_of_sums<Simd>(count, step, rr, ru);
    rr.store(r_dot_r);
    if constexpr (decltype(scaling)::value) ru.store(r_dot_u);
  });
}

void ghysels_vanroose_pass(double alpha, double beta, const GhyselsVanrooseArrays& v,
                           const double* d, const double* d_inverse, std::int64_t count,
                           CloseSum& r_dot_r, CloseSum& r_dot_u, CloseSum& w_dot_u) {
  with_scaling(d, [&]<class Simd>(auto scaling) __attribute__((always_inline)) {
    constexpr bool is_scaled = decltype(scaling)::value;
    CloseSum::In<Simd> rr(r_dot_r);
    CloseSum::In<Simd> ru(r_dot_u);
    CloseSum::In<Simd> wu(w_dot_u);
    const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      auto u = load<Value>(v.u + i);
      auto w = load<Value>(v.w + i);
      const auto z = load<Value>(v.n + i) + beta * load<Value>(v.z + i);
      const auto s = w + beta * load<Value>(v.s + i);
      const auto p = u + beta * load<Value>(v.p + i);
      store(v.z + i, z);
      store(v.s + i, s);
      store(v.p + i, p);
      store(v.x + i, load<Value>(v.x + i) + alpha * p);
      w -= alpha * z;
      store(v.w + i, w);
      auto r = u;
      if constexpr (is_scaled) {
        u -= alpha * (load<Value>(d_inverse + i) * s);
        r = load<Value>(d + i) * u;
        store(v.m + i, load<Value>(d_inverse + i) * w);
        ru.add(r * u);
      } else {
        u -= alpha * s;
        r = u;
      }
      store(v.u + i, u);
      rr.add(r * r);
      wu.add(w * u);
    };
    for_lanes_of_sums<Simd>(count, step, rr, ru, wu);
    rr.store(r_dot_r);
    if constexpr (decltype(scaling)::value) ru.store(r_dot_u);
    wu.store(w_dot_u);
  });
}

void predict_recompute_pass(double alpha, double beta, const PredictRecomputeArrays& v,
                            const double* d, const double* d_inverse, std::int64_t count,
                            PredictRecomputeSums& sums) {
  with_scaling(d, [&]<class Simd>(auto scaling) __attribute__((always_inline)) {
    constexpr bool is_scaled = decltype(scaling)::value;
    CloseSum::In<Simd> r_dot_r(sums.r_dot_r);
    CloseSum::In<Simd> r_dot_u(sums.r_dot_u);
    CloseSum::In<Simd> p_dot_s(sums.p_dot_s);
    CloseSum::In<Simd> r_dot_t(sums.r_dot_t);
    CloseSum::In<Simd> s_dot_t(sums.s_dot_t);
    const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      const auto old_p = load<Value>(v.p + i);
      const auto old_t = load<Value>(v.t + i);
      store(v.x + i, load<Value>(v.x + i) + alpha * old_p);
      const auto u = load<Value>(v.u + i) - alpha * old_t;
      const auto p = u + beta * old_p;
      auto t = load<Value>(v.w + i) - alpha * load<Value>(v.a + i);
      auto r = u;
      if constexpr (is_scaled) {
        t = load<Value>(d_inverse + i) * t;
        r = load<Value>(d + i) * u;
      }
      t += beta * old_t;
      auto s = t;
      if constexpr (is_scaled) s = load<Value>(d + i) * t;
      store(v.u + i, u);
      store(v.p + i, p);
      store(v.t + i, t);
      r_dot_r.add(r * r);
      if constexpr (is_scaled) r_dot_u.add(r * u);
      p_dot_s.add(p * s);
      r_dot_t.add(r * t);
      s_dot_t.add(s * t);
    };
    for_lanes_of_sums<Simd>(count, step, r_dot_r, r_dot_u, p_dot_s, r_dot_t, s_dot_t);
    r_dot_r.store(sums.r_dot_r);
    if constexpr (is_scaled) r_dot_u.store(sums.r_dot_u);
    p_dot_s.store(sums.p_dot_s);
    r_dot_t.store(sums.r_dot_t);
    s_dot_t.store(sums.s_dot_t);
  });
}

}  // namespace weft::solver
