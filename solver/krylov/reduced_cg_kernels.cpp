#include "solver/krylov/reduced_cg_kernels.h"

#include <cstddef>
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

/// Calls step<Value>(element, sums in registers) for all elements.
template <class Simd, std::size_t sum_count, class Step, class... Sums>
[[gnu::always_inline]] inline void add_in_registers(std::array<CloseSum, sum_count>& sums,
                                                    std::int64_t count, const Step& step,
                                                    Sums&... taken) {
  constexpr std::size_t next = sizeof...(Sums);
  if constexpr (next < sum_count) {
    CloseSum::In<Simd> sum(sums[next]);
    add_in_registers<Simd>(sums, count, step, taken..., sum);
    sum.store(sums[next]);
  } else {
    const auto step_with_sums = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      step.template operator()<Value>(i, taken...);
    };
    for_lanes_of_sums<Simd>(count, step_with_sums, taken...);
  }
}

}  // namespace

void chronopoulos_gear_pass(double alpha, double beta, const ChronopoulosGearArrays& v,
                            const double* d, const double* d_inverse, std::int64_t count,
                            std::array<CloseSum, 2>& sums) {
  with_scaling(d, [&]<class Simd>(auto scaling) __attribute__((always_inline)) {
    constexpr bool is_scaled = decltype(scaling)::value;
    const auto step = [&]<class Value>(std::ptrdiff_t i, auto& rr, auto& ru)
                          __attribute__((always_inline)) {
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
    add_in_registers<Simd>(sums, count, step);
  });
}

void ghysels_vanroose_pass(double alpha, double beta, const GhyselsVanrooseArrays& v,
                           const double* d, const double* d_inverse, std::int64_t count,
                           std::array<CloseSum, 3>& sums) {
  with_scaling(d, [&]<class Simd>(auto scaling) __attribute__((always_inline)) {
    constexpr bool is_scaled = decltype(scaling)::value;
    const auto step = [&]<class Value>(std::ptrdiff_t i, auto& rr, auto& ru, auto& wu)
                          __attribute__((always_inline)) {
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
    add_in_registers<Simd>(sums, count, step);
  });
}

void predict_recompute_pass(double alpha, double beta, const PredictRecomputeArrays& v,
                            const double* d, const double* d_inverse, std::int64_t count,
                            std::array<CloseSum, 5>& sums) {
  with_scaling(d, [&]<class Simd>(auto scaling) __attribute__((always_inline)) {
    constexpr bool is_scaled = decltype(scaling)::value;
    const auto step = [&]<class Value>(std::ptrdiff_t i, auto& rr, auto& ru, auto& ps, auto& rt,
                                       auto& st) __attribute__((always_inline)) {
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
      rr.add(r * r);
      if constexpr (is_scaled) ru.add(r * u);
      ps.add(p * s);
      rt.add(r * t);
      st.add(s * t);
    };
    add_in_registers<Simd>(sums, count, step);
  });
}

}  // namespace weft::solver
