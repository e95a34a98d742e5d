#pragma once

#include <cstddef>

#include "perfmodel/simd.h"

namespace weft::perfmodel {

/// Elements that a kernel goes through while a line comes from memory.
constexpr std::ptrdiff_t fetch_lead = 512;

/// Has elements that are wanted soon brought from memory to the second-level cache, a line for
/// every eight that are worked on. The processor foresees what a loop reads next, but not across
/// planes, and not while the loop works on what is in cache. Measured:
/// docs/notes/conjugate-gradients.md. Nothing where Elements is a SingleLane: remainders, and
/// columns of points.
template <class Elements, class... Arrays>
[[gnu::always_inline]] inline void fetch([[maybe_unused]] std::ptrdiff_t i,
                                         [[maybe_unused]] const Arrays*... arrays) {
  if constexpr (sizeof(Elements) == sizeof(Lanes)) (__builtin_prefetch(arrays + i, 1, 2), ...);
}

}  // namespace weft::perfmodel
