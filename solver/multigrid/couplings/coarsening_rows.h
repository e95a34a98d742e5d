#pragma once

#include <cstddef>

namespace weft::solver {

/// Rows of couplings of a coarser grid; `step`: fine elements from one coarse point to the next.

/// out = a / (a + b), 1/2 where both are 0.
template <std::ptrdiff_t step, class Value>
[[gnu::always_inline]] inline void weights_of_row(const double* a, const double* b,
                                                  std::ptrdiff_t count, Value* __restrict out) {
  for (std::ptrdiff_t x = 0; x < count; ++x) {
    const double sum = a[x * step] + b[x * step];
    const double share = a[x * step] / (sum > 0 ? sum : 1);
    out[x] = sum > 0 ? static_cast<Value>(share) : Value{0.5};
  }
}

/// out = couplings in series, 0 where both are 0.
template <std::ptrdiff_t step>
[[gnu::always_inline]] inline void series_of_row(const double* a, const double* b,
                                                 std::ptrdiff_t count, double* __restrict out) {
  for (std::ptrdiff_t x = 0; x < count; ++x) {
    const double sum = a[x * step] + b[x * step];
    const double product = a[x * step] * (b[x * step] / (sum > 0 ? sum : 1));
    out[x] = sum > 0 ? product : 0;
  }
}

/// Weights at both ends of the couplings of a row.
template <class Value>
struct EndWeights {
  const Value* low;
  const Value* high;

  [[gnu::always_inline]] double mean(std::ptrdiff_t x) const {
    return (static_cast<double>(low[x]) + static_cast<double>(high[x])) / 2;
  }
};

/// out = middle + (1 - here)·first + after·last, without the last one from `last_count` on.
template <std::ptrdiff_t step, class Value>
[[gnu::always_inline]] inline void across_of_row(const double* first, const double* middle,
                                                 const double* last, const EndWeights<Value>& here,
                                                 const EndWeights<Value>& after,
                                                 std::ptrdiff_t count, std::ptrdiff_t last_count,
                                                 double* __restrict out) {
  for (std::ptrdiff_t x = 0; x < last_count; ++x)
    out[x] =
        (middle[x * step] + (1 - here.mean(x)) * first[x * step]) + after.mean(x) * last[x * step];
  for (std::ptrdiff_t x = last_count; x < count; ++x)
    out[x] = middle[x * step] + (1 - here.mean(x)) * first[x * step];
}

}  // namespace weft::solver
