#include "solver/amg/coarsening/near_null_space.h"

#include <array>
#include <cstddef>
#include <utility>

namespace weft::solver::amg {

NearNullSpace constants_of_nodes(int block_size, spmv::GlobalIndex first_row,
                                 spmv::LocalIndex row_count) {
  const auto width = static_cast<std::size_t>(block_size);
  NearNullSpace space{.block_size = block_size, .vector_count = block_size};
  space.values.resize(static_cast<std::size_t>(row_count) * width);
  for (std::size_t row = 0; row < static_cast<std::size_t>(row_count); ++row)
    space.values[row * width + (static_cast<std::size_t>(first_row) + row) % width] = 1;
  return space;
}

NearNullSpace rigid_body_modes(std::span<const double> coordinates, int dimensions,
                               spmv::GlobalIndex first_row) {
  const auto size = static_cast<std::size_t>(dimensions);
  const std::size_t width = size == 2 ? 3 : 6;
  // Rotations turn the first axis towards the second.
  constexpr std::array<std::pair<std::size_t, std::size_t>, 3> rotations{{{0, 1}, {1, 2}, {2, 0}}};
  NearNullSpace space{.block_size = dimensions, .vector_count = static_cast<int>(width)};
  const std::size_t row_count = coordinates.size() / size;
  space.values.resize(row_count * width);
  for (std::size_t row = 0; row < row_count; ++row) {
    const std::size_t component = (static_cast<std::size_t>(first_row) + row) % size;
    double* const values = space.values.data() + row * width;
    values[component] = 1;
    for (std::size_t i = 0; i < width - size; ++i) {
      const auto [from, to] = rotations[i];
      if (component == from) values[size + i] = -coordinates[row * size + to];
      if (component == to) values[size + i] = coordinates[row * size + from];
    }
  }
  return space;
}

}  // namespace weft::solver::amg
