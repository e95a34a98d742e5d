#include "solver/krylov/reduced_cg_kernels.h"

#include <type_traits>

#include "perfmodel/simd.h"

namespace weft::solver {
namespace {

using perfmodel::elements;
using perfmodel::for_lanes;
using spmv::CloseSum;

/// Calls body(has_scaling) as a constant, compiled for the widest instruction set.
template <class Body>
void with_scaling(const double* d, const Body& body) {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    if (d)
      body(std::true_type{});
    else
      body(std::false_type{});
  });
}

}  // namespace

void add_squares_of_u(const double* u, const double* d, std::int64_t count, CloseSum& r_dot_r,
                      CloseSum& r_dot_u) {
  with_scaling(d, [&](auto scaling) __attribute__((always_inline)) {
    CloseSum rr = r_dot_r;
    CloseSum ru = r_dot_u;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      const auto value = elements<Elements>(u + i).value;
      auto r = value;
      if constexpr (decltype(scaling)::value) r = elements<Elements>(d + i).value * value;
      rr.add(r * r);
      if constexpr (decltype(scaling)::value) ru.add(r * value);
    });
    rr.carry();
    r_dot_r = rr;
    ru.carry();
    r_dot_u = ru;
  });
}

void add_product(const double* a, const double* b, std::int64_t count, CloseSum& sum) {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    CloseSum local = sum;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      local.add(elements<Elements>(a + i).value * elements<Elements>(b + i).value);
    });
    local.carry();
    sum = local;
  });
}

void chronopoulos_gear_pass(double alpha, double beta, const ChronopoulosGearArrays& v,
                            const double* d, const double* d_inverse, std::int64_t count,
                            CloseSum& r_dot_r, CloseSum& r_dot_u) {
  with_scaling(d, [&](auto scaling) __attribute__((always_inline)) {
    constexpr bool is_scaled = decltype(scaling)::value;
    CloseSum rr = r_dot_r;
    CloseSum ru = r_dot_u;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      auto u = elements<Elements>(v.u + i).value;
      const auto p = u + beta * elements<Elements>(v.p + i).value;
      const auto s = elements<Elements>(v.w + i).value + beta * elements<Elements>(v.s + i).value;
      elements<Elements>(v.p + i).value = p;
      elements<Elements>(v.s + i).value = s;
      elements<Elements>(v.x + i).value += alpha * p;
      if constexpr (is_scaled)
        u -= alpha * (elements<Elements>(d_inverse + i).value * s);
      else
        u -= alpha * s;
      elements<Elements>(v.u + i).value = u;
      auto r = u;
      if constexpr (is_scaled) r = elements<Elements>(d + i).value * u;
      rr.add(r * r);
      if constexpr (is_scaled) ru.add(r * u);
    });
    rr.carry();
    r_dot_r = rr;
    ru.carry();
    r_dot_u = ru;
  });
}

void ghysels_vanroose_pass(double alpha, double beta, const GhyselsVanrooseArrays& v,
                           const double* d, const double* d_inverse, std::int64_t count,
                           CloseSum& r_dot_r, CloseSum& r_dot_u, CloseSum& w_dot_u) {
  with_scaling(d, [&](auto scaling) __attribute__((always_inline)) {
    constexpr bool is_scaled = decltype(scaling)::value;
    CloseSum rr = r_dot_r;
    CloseSum ru = r_dot_u;
    CloseSum wu = w_dot_u;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      auto u = elements<Elements>(v.u + i).value;
      auto w = elements<Elements>(v.w + i).value;
      const auto z = elements<Elements>(v.n + i).value + beta * elements<Elements>(v.z + i).value;
      const auto s = w + beta * elements<Elements>(v.s + i).value;
      const auto p = u + beta * elements<Elements>(v.p + i).value;
      elements<Elements>(v.z + i).value = z;
      elements<Elements>(v.s + i).value = s;
      elements<Elements>(v.p + i).value = p;
      elements<Elements>(v.x + i).value += alpha * p;
      w -= alpha * z;
      elements<Elements>(v.w + i).value = w;
      auto r = u;
      if constexpr (is_scaled) {
        u -= alpha * (elements<Elements>(d_inverse + i).value * s);
        r = elements<Elements>(d + i).value * u;
        elements<Elements>(v.m + i).value = elements<Elements>(d_inverse + i).value * w;
        ru.add(r * u);
      } else {
        u -= alpha * s;
        r = u;
      }
      elements<Elements>(v.u + i).value = u;
      rr.add(r * r);
      wu.add(w * u);
    });
    rr.carry();
    r_dot_r = rr;
    ru.carry();
    r_dot_u = ru;
    wu.carry();
    w_dot_u = wu;
  });
}

void predict_recompute_pass(double alpha, double beta, const PredictRecomputeArrays& v,
                            const double* d, const double* d_inverse, std::int64_t count,
                            PredictRecomputeSums& sums) {
  with_scaling(d, [&](auto scaling) __attribute__((always_inline)) {
    constexpr bool is_scaled = decltype(scaling)::value;
    PredictRecomputeSums local = sums;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      const auto old_p = elements<Elements>(v.p + i).value;
      const auto old_t = elements<Elements>(v.t + i).value;
      elements<Elements>(v.x + i).value += alpha * old_p;
      const auto u = elements<Elements>(v.u + i).value - alpha * old_t;
      const auto p = u + beta * old_p;
      auto t = elements<Elements>(v.w + i).value - alpha * elements<Elements>(v.a + i).value;
      auto r = u;
      if constexpr (is_scaled) {
        t = elements<Elements>(d_inverse + i).value * t;
        r = elements<Elements>(d + i).value * u;
      }
      t += beta * old_t;
      auto s = t;
      if constexpr (is_scaled) s = elements<Elements>(d + i).value * t;
      elements<Elements>(v.u + i).value = u;
      elements<Elements>(v.p + i).value = p;
      elements<Elements>(v.t + i).value = t;
      local.r_dot_r.add(r * r);
      if constexpr (is_scaled) local.r_dot_u.add(r * u);
      local.p_dot_s.add(p * s);
      local.r_dot_t.add(r * t);
      local.s_dot_t.add(s * t);
    });
    local.carry();
    sums = local;
  });
}

}  // namespace weft::solver
