#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "library/system/vector_map.h"
#include "perfmodel/huge_page_buffer.h"

namespace weft::library {

/// Several vectors of a caller, whose entries stand together row by row, as vectors of the
/// operator. Thread: the main thread, outside the team. Lifetime: `map` outlives it.
class BlockColumns {
 public:
  using Vector = perfmodel::HugePageBuffer<double>;

  BlockColumns(VectorMap& map, std::size_t element_count, int count)
      : map_(map), element_count_(element_count), count_(static_cast<std::size_t>(count)) {}

  /// Shape: given: [given_count · count]. Collective.
  std::vector<Vector> collective_to_operator(std::span<const double> given) const;
  void collective_from_operator(const std::vector<Vector>& vectors, std::span<double> given) const;

  static std::vector<std::span<const double>> views(const std::vector<Vector>& vectors);
  static std::vector<std::span<double>> changeable_views(std::vector<Vector>& vectors);

 private:
  VectorMap& map_;
  std::size_t element_count_;
  std::size_t count_;
};

}  // namespace weft::library
