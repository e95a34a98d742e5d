#include "perfmodel/stream_kernels.h"

#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
  #include <immintrin.h>
#endif

#include "perfmodel/bandwidth_kernels.h"
#include "perfmodel/simd.h"

namespace weft::perfmodel {
namespace {

constexpr double factor = 0.999999;

using Pair = double __attribute__((vector_size(16)));

/// Two adjacent elements, stored past the caches. Eight of these stores fill a line at any vector
/// width, so one kernel serves all instruction sets.
[[gnu::always_inline]] inline void store_past_caches(double* place, Pair value) {
#if defined(__x86_64__)
  _mm_stream_pd(place, value);
#else
  std::memcpy(place, &value, sizeof(value));
#endif
}

/// Orders the stores past the caches before later stores.
void finish_stores_past_caches() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <class Value>
[[gnu::always_inline]] inline void store_all_past_caches(double* c, std::int64_t count,
                                                         const Value& value) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int j = 0; j < 8; j += 2) store_past_caches(c + i + j, value(i + j));
  for (; i < count; ++i) c[i] = value(i)[0];
}

[[gnu::always_inline]] inline Pair pair(const double* place) {
  Pair value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

void store_all(double* c, std::int64_t count) {
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    for_lanes<Simd>(count, [&]<class Value>(std::ptrdiff_t i)
                               __attribute__((always_inline)) { store(c + i, Value{} + factor); });
  });
}

void update(double* a, std::int64_t count) {
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    for_lanes<Simd>(count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      store(a + i, load<Value>(a + i) * factor);
    });
  });
}

void copy(const double* a, double* c, std::int64_t count) {
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    for_lanes<Simd>(count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      store(c + i, load<Value>(a + i));
    });
  });
}

void triad(const double* a, const double* b, double* c, std::int64_t count) {
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    for_lanes<Simd>(count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      store(c + i, load<Value>(a + i) + factor * load<Value>(b + i));
    });
  });
}

}  // namespace

const char* name(Stream stream) {
  constexpr std::array names{"load",
                             "store",
                             "store, past caches",
                             "update",
                             "copy",
                             "copy, past caches",
                             "triad",
                             "triad, past caches"};
  return names[static_cast<std::size_t>(stream)];
}

StreamTraffic traffic_of(Stream stream) {
  switch (stream) {
    case Stream::load:
      return {8, 0, 8, 1};
    case Stream::store:
      return {8, 8, 8, 0};
    case Stream::store_past:
      return {0, 8, 8, 0};
    case Stream::update:
      return {8, 8, 16, 1};
    case Stream::copy:
      return {16, 8, 16, 0};
    case Stream::copy_past:
      return {8, 8, 16, 0};
    case Stream::triad:
      return {24, 8, 24, 2};
    case Stream::triad_past:
      break;
  }
  return {16, 8, 24, 2};
}

double run_stream(Stream stream, double* a, const double* b, double* c, std::int64_t count) {
  switch (stream) {
    case Stream::load:
      return load_probe(a, count);
    case Stream::store:
      store_all(c, count);
      break;
    case Stream::store_past:
      store_all_past_caches(c, count, [](std::int64_t) { return Pair{factor, factor}; });
      break;
    case Stream::update:
      update(a, count);
      return a[0];
    case Stream::copy:
      copy(a, c, count);
      break;
    case Stream::copy_past:
      store_all_past_caches(c, count, [a](std::int64_t i) { return pair(a + i); });
      break;
    case Stream::triad:
      triad(a, b, c, count);
      break;
    case Stream::triad_past:
      store_all_past_caches(c, count,
                            [a, b](std::int64_t i) { return pair(a + i) + factor * pair(b + i); });
      break;
  }
  finish_stores_past_caches();
  return c[0];
}

double run_in_registers(std::int64_t rounds) {
  constexpr int chain_count =
      12;  // hides 4 cycles of latency of 2 units, and is below 16 registers
  double result = 0;
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    using Register = typename Simd::Lane8::Register;
    Register sums[chain_count];
    unrolled<chain_count>([&](auto j) __attribute__((always_inline)) {
      sums[j] = Register(1.0 + static_cast<double>(j));
    });
    for (std::int64_t round = 0; round < rounds * 8 / Register::size; ++round)
      unrolled<chain_count>(
          [&](auto j) __attribute__((always_inline)) { sums[j] = sums[j] * factor + 1e-6; });
    for (const Register& sum : sums)
      for (int lane = 0; lane < Register::size; ++lane) result += sum[lane];
  });
  return result;
}

}  // namespace weft::perfmodel
