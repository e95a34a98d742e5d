#pragma once

#include <cstdint>

#include "spmv/matrix/prefetch.h"

namespace weft::spmv {

/// Reads the values of a matrix where CRS has them. The kernels of CRS take this or
/// NumberedValues::Reader.
template <class Value>
struct StoredValues {
  const Value* values;

  [[gnu::always_inline]] Value operator[](std::int64_t k) const { return values[k]; }
  [[gnu::always_inline]] void prefetch_from(std::int64_t k) const { prefetch(values + k); }
};

}  // namespace weft::spmv
