#include "solver/simulation/part_shape.h"

#include <algorithm>

namespace weft::solver {
namespace {

spmv::GridBox cube(int points) { return {{0, 0, 0}, {points, points, points}}; }

}  // namespace

PartShape::PartShape(const std::array<int, 3>& ranks, int points)
    : ranks_(ranks), points_(points), layout_(cube(points), 1, 1) {
  for (std::size_t face = 0; face < own_.size(); ++face) {
    const std::size_t direction = face / 2;
    const bool is_above = face % 2 == 1;
    std::array<int, 3> point{};
    const std::size_t a = direction == 0 ? 1 : 0;
    const std::size_t b = direction == 2 ? 1 : 2;
    for (point[b] = 0; point[b] < points; ++point[b])
      for (point[a] = 0; point[a] < points; ++point[a]) {
        const auto element = [&](int depth) {
          point[direction] = depth;
          return static_cast<std::uint32_t>(layout_.index(point[0], point[1], point[2]));
        };
        own_[face].push_back(element(is_above ? points - 1 : 0));
        ghosts_[face].push_back(element(is_above ? points : -1));
      }
  }
}

std::array<int, 3> PartShape::place(int rank) const {
  return {rank % ranks_[0], rank / ranks_[0] % ranks_[1], rank / (ranks_[0] * ranks_[1])};
}

int PartShape::neighbour(int rank, std::size_t face) const {
  const std::size_t direction = face / 2;
  const int step = face % 2 == 1 ? 1 : -1;
  const int there = place(rank)[direction] + step;
  if (there < 0 || there >= ranks_[direction]) return -1;
  const std::array<int, 3> strides{1, ranks_[0], ranks_[0] * ranks_[1]};
  return rank + step * strides[direction];
}

std::array<int, 3> ranks_per_direction(int rank_count) {
  std::array<int, 3> ranks{1, 1, 1};
  std::vector<int> factors;
  for (int factor = 2, left = rank_count; left > 1;)
    if (left % factor == 0) {
      factors.push_back(factor);
      left /= factor;
    } else {
      ++factor;
    }
  std::ranges::reverse(factors);
  for (const int factor : factors) *std::ranges::min_element(ranks) *= factor;
  std::ranges::sort(ranks, std::greater<>());
  return ranks;
}

}  // namespace weft::solver
