#pragma once

#include <cstddef>

#include "spmv/grid/box.h"

namespace weft::tests {

/// Calls visit(x, y, z) for the points of a box, x fastest.
template <class Visit>
void for_each_point(const spmv::GridBox& box, const Visit& visit) {
  for (spmv::GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (spmv::GlobalIndex y = box.begin[1]; y < box.end[1]; ++y)
      for (spmv::GlobalIndex x = box.begin[0]; x < box.end[0]; ++x) visit(x, y, z);
}

/// The number of a point in that order.
inline std::size_t place_in(const spmv::GridBox& box, spmv::GlobalIndex x, spmv::GlobalIndex y,
                            spmv::GlobalIndex z) {
  return static_cast<std::size_t>(
      x - box.begin[0] + box.size(0) * (y - box.begin[1] + box.size(1) * (z - box.begin[2])));
}

}  // namespace weft::tests
