#pragma once

#include <cstddef>

#include "perfmodel/simd.h"

namespace weft::perfmodel {

/// Number of elements that a kernel processes while a line arrives from memory.
constexpr std::ptrdiff_t fetch_lead = 512;

/// Prefetches elements from memory to the second-level cache, one line for every eight elements
/// processed. The hardware prefetcher follows a loop, but not across planes and not while the loop
/// works on cached data. Measured: docs/notes/conjugate-gradients.md.
/// Does nothing if Value is a single number (remainders and columns of points).
template <class Value, class... Arrays>
[[gnu::always_inline]] inline void fetch([[maybe_unused]] std::ptrdiff_t i,
                                         [[maybe_unused]] const Arrays*... arrays) {
  if constexpr (sizeof(Value) == 64) (__builtin_prefetch(arrays + i, 1, 2), ...);
}

}  // namespace weft::perfmodel
