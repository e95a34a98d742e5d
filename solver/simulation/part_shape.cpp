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

std::vector<std::uint8_t> PartShape::faces_with_neighbour(int rank) const {
  std::vector<std::uint8_t> faces;
  faces.reserve(own_.size());
  constexpr std::array<std::uint8_t, 6> by_rank{4, 2, 0, 1, 3, 5};
  for (const std::uint8_t face : by_rank)
    if (neighbour(rank, face) >= 0) faces.push_back(face);
  return faces;
}

std::vector<comm_thread::HaloNeighbour> PartShape::halo_neighbours(int rank) const {
  const std::vector<std::uint8_t> faces = faces_with_neighbour(rank);
  const auto count = static_cast<std::int64_t>(face_size());
  std::vector<comm_thread::HaloNeighbour> neighbours;
  neighbours.reserve(faces.size());
  for (const std::uint8_t face : faces) {
    const std::int64_t begin = count * static_cast<std::int64_t>(neighbours.size());
    neighbours.push_back({neighbour(rank, face), begin, count, begin, count});
  }
  return neighbours;
}

double PartShape::interior_fraction(int rank, int points) const {
  double fraction = 1;
  for (std::size_t direction = 0; direction < ranks_.size(); ++direction) {
    const int count = (neighbour(rank, 2 * direction) >= 0 ? 1 : 0) +
                      (neighbour(rank, 2 * direction + 1) >= 0 ? 1 : 0);
    fraction *= static_cast<double>(std::max(0, points - count)) / points;
  }
  return fraction;
}

void PartShape::pack(std::span<const double> values, std::size_t face,
                     std::span<double> out) const {
  for (std::size_t i = 0; i < own_[face].size(); ++i) out[i] = values[own_[face][i]];
}

void PartShape::unpack(std::span<double> values, std::size_t face,
                       std::span<const double> in) const {
  for (std::size_t i = 0; i < ghosts_[face].size(); ++i) values[ghosts_[face][i]] = in[i];
}

void PartShape::put_own(std::span<const double> own, std::span<double> values) const {
  const auto row = static_cast<std::size_t>(points_);
  std::size_t first = 0;
  for (int z = 0; z < points_; ++z)
    for (int y = 0; y < points_; ++y, first += row)
      std::ranges::copy(own.subspan(first, row),
                        values.begin() + static_cast<std::ptrdiff_t>(layout_.index(0, y, z)));
}

void PartShape::multiply_laplacian(std::span<const double> values,
                                   std::span<double> product) const {
  const std::ptrdiff_t row = layout_.row_stride();
  const std::ptrdiff_t plane = layout_.plane_stride();
  std::size_t i = 0;
  for (int z = 0; z < points_; ++z)
    for (int y = 0; y < points_; ++y) {
      const double* u = values.data() + layout_.index(0, y, z);
      for (int x = 0; x < points_; ++x, ++u)
        product[i++] = 6 * *u - (((u[-1] + u[1]) + (u[-row] + u[row])) + (u[-plane] + u[plane]));
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
