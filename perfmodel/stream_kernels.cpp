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

/// Elements of a loop, and how often they are gone through.
struct Range {
  std::int64_t count;
  std::int64_t passes;
};

template <class Value>
[[gnu::always_inline]] inline void store_all_past_caches(double* c, Range range,
                                                         const Value& value) {
  for (std::int64_t pass = 0; pass < range.passes; ++pass) {
    std::int64_t i = 0;
    for (; i + 8 <= range.count; i += 8)
      for (int j = 0; j < 8; j += 2) store_past_caches(c + i + j, value(i + j));
    for (; i < range.count; ++i) c[i] = value(i)[0];
  }
}

[[gnu::always_inline]] inline Pair pair(const double* place) {
  Pair value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

/// Does what for_lanes does `passes` times, four groups of eight in a turn: with one the end of a
/// turn takes as long as its work. GB/s from the first-level cache of a Zen 5, one vector of 64
/// bytes in a turn and four: store 228 and 270, update 404 and 535, copy 380 and 536, triad 530 and
/// 670.
template <class Simd, class Step>
[[gnu::always_inline]] inline void for_many_lanes(Range range, const Step& step) {
  for (std::int64_t pass = 0; pass < range.passes; ++pass) {
    std::int64_t i = 0;
    for (; i + 32 <= range.count; i += 32)
      unrolled<4>([&](auto j) __attribute__((always_inline)) {
        step.template operator()<typename Simd::Lane8>(i + 8 * j);
      });
    for_lanes<Simd>(range.count - i,
                    [&]<class Value>(std::ptrdiff_t rest) __attribute__((always_inline)) {
                      step.template operator()<Value>(i + rest);
                    });
    asm volatile("" ::: "memory");  // or one pass would do for all
  }
}

// Each body copies what it captures, because any store might change what is captured by reference:
// pointers that are loaded again for every vector halve the rate in the first-level cache.

void store_all(double* array, Range range) {
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    double* const c = array;
    for_many_lanes<Simd>(range, [=]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      store(c + i, Value{} + factor);
    });
  });
}

void update(double* array, Range range) {
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    double* const a = array;
    for_many_lanes<Simd>(range, [=]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      store(a + i, load<Value>(a + i) * factor);
    });
  });
}

void copy(const double* from, double* to, Range range) {
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    const double* const a = from;
    double* const c = to;
    for_many_lanes<Simd>(range, [=]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      store(c + i, load<Value>(a + i));
    });
  });
}

void triad(const double* left, const double* right, double* to, Range range) {
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    const double* const a = left;
    const double* const b = right;
    double* const c = to;
    for_many_lanes<Simd>(range, [=]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
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

double run_stream(Stream stream, double* a, const double* b, double* c, std::int64_t count,
                  std::int64_t passes) {
  const Range range{count, passes};
  switch (stream) {
    case Stream::load:
      return load_probe(a, count, passes);
    case Stream::store:
      store_all(c, range);
      break;
    case Stream::store_past:
      store_all_past_caches(c, range, [](std::int64_t) { return Pair{factor, factor}; });
      break;
    case Stream::update:
      update(a, range);
      return a[0];
    case Stream::copy:
      copy(a, c, range);
      break;
    case Stream::copy_past:
      store_all_past_caches(c, range, [a](std::int64_t i) { return pair(a + i); });
      break;
    case Stream::triad:
      triad(a, b, c, range);
      break;
    case Stream::triad_past:
      store_all_past_caches(c, range,
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
