#pragma once

#include <cstddef>
#include <vector>

namespace weft::solver {

/// The entries of a symmetric matrix on and below its diagonal, in any order; duplicates add up.
struct LowerTriangle {
  struct Entry {
    int row;
    int column;  // at most `row`
    double value;
  };

  std::size_t size = 0;  // rows
  std::vector<Entry> entries;
};

}  // namespace weft::solver
