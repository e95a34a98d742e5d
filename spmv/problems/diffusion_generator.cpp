#include "spmv/problems/diffusion_generator.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "spmv/problems/random_numbers.h"

namespace weft::spmv {
namespace {

/// Written so that equal ones have that mean exactly and the order does not count.
double harmonic_mean(double a, double b) {
  const auto [least, most] = std::minmax(a, b);
  return 2 * least / (1 + least / most);
}

/// A standard normal number, by Box and Muller's method.
double normal(std::uint64_t seed, GlobalIndex index) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(seed, 2 * index)));
  return radius * std::cos(2 * std::numbers::pi * uniform(seed, 2 * index + 1));
}

/// Among the middle half of 0, …, size - 1?
bool is_in_the_middle(GlobalIndex i, GlobalIndex size) {
  return i >= size / 4 && i < size - size / 4;
}

}  // namespace

void DiffusionGenerator::fill_coefficients(GlobalIndex y, GlobalIndex z,
                                           std::span<double> line) const {
  const GlobalIndex first = grid_.x * (y + grid_.y * z);
  if (settings_.kind == DiffusionSettings::Kind::checkerboard) {
    const GlobalIndex block = settings_.block;
    bool is_other = (y / block + z / block) % 2 != 0;
    GlobalIndex left = block;  // points to the end of the cube
    for (double& value : line) {
      value = is_other ? settings_.ratio : 1;
      if (--left > 0) continue;
      is_other = !is_other;
      left = block;
    }
    return;
  }
  const auto coefficient = [&](GlobalIndex x) -> double {
    switch (settings_.kind) {
      case DiffusionSettings::Kind::constant:
        break;
      case DiffusionSettings::Kind::jumps:
        return is_in_the_middle(x, grid_.x) && is_in_the_middle(y, grid_.y) &&
                       is_in_the_middle(z, grid_.z)
                   ? settings_.ratio
                   : 1;
      case DiffusionSettings::Kind::checkerboard:
        break;
      case DiffusionSettings::Kind::lognormal:
        return std::exp(settings_.sigma * normal(settings_.seed, first + x));
      case DiffusionSettings::Kind::file:
        return settings_.file->at(first + x);
    }
    return 1;
  };
  for (std::size_t x = 0; x < line.size(); ++x) line[x] = coefficient(static_cast<GlobalIndex>(x));
}

template <class Visit>
void DiffusionGenerator::for_each_point(GlobalIndex begin, GlobalIndex end,
                                        const Visit& visit) const {
  const auto size = static_cast<std::size_t>(grid_.x);
  std::array<std::vector<double>, 5> lines;  // z - 1, y - 1, the line itself, y + 1, z + 1
  for (auto& line : lines) line.resize(size);
  auto& [behind, below, here, above, ahead] = lines;
  bool has_previous_line = false;  // below, here and above are those of the line before
  for (GlobalIndex row = begin; row < end;) {
    const GlobalIndex line = row / grid_.x;
    const GlobalIndex y = line % grid_.y;
    const GlobalIndex z = line / grid_.y;
    const std::array<GlobalIndex, 5> ys{y, y - 1, y, y + 1, y};
    const std::array<GlobalIndex, 5> zs{z - 1, z, z, z, z + 1};
    std::array<bool, 5> is_inside{};
    const bool is_next = has_previous_line && y > 0;
    if (is_next) {
      std::swap(below, here);
      std::swap(here, above);
    }
    for (std::size_t i = 0; i < 5; ++i) {
      is_inside[i] = ys[i] >= 0 && ys[i] < grid_.y && zs[i] >= 0 && zs[i] < grid_.z;
      if (is_inside[i] && !(is_next && (i == 1 || i == 2)))
        fill_coefficients(ys[i], zs[i], lines[i]);
    }
    has_previous_line = true;
    const GlobalIndex line_end = std::min(end, (line + 1) * grid_.x);
    for (auto x = static_cast<std::size_t>(row % grid_.x); row < line_end; ++row, ++x) {
      const auto coupling = [&](bool inside, const std::vector<double>& other, std::size_t at) {
        return inside ? harmonic_mean(here[x], other[at]) : here[x];
      };
      const bool has_previous = x > 0;
      const bool has_next = x + 1 < size;
      visit(row, Point{{coupling(is_inside[0], behind, x), coupling(is_inside[1], below, x),
                        coupling(has_previous, here, x - 1), coupling(has_next, here, x + 1),
                        coupling(is_inside[3], above, x), coupling(is_inside[4], ahead, x)},
                       {is_inside[0], is_inside[1], has_previous, has_next, is_inside[3],
                        is_inside[4]}});
    }
  }
}

void DiffusionGenerator::visit_rows(GlobalIndex begin, GlobalIndex end,
                                    const RowVisitor& visit) const {
  const std::array<GlobalIndex, 6> distances{-grid_.x * grid_.y, -grid_.x, -1, 1, grid_.x,
                                             grid_.x * grid_.y};
  std::array<GlobalIndex, 7> columns{};
  std::array<double, 7> values{};
  for_each_point(begin, end, [&](GlobalIndex row, const Point& point) {
    double diagonal = 0;
    for (const double coupling : point.couplings) diagonal += coupling;
    std::size_t count = 0;
    const auto add = [&](GlobalIndex column, double value) {
      columns[count] = column;
      values[count++] = value;
    };
    for (std::size_t i = 0; i < 6; ++i) {
      if (i == 3) add(row, diagonal);
      if (point.is_inside[i]) add(row + distances[i], -point.couplings[i]);
    }
    visit(row, std::span(columns).first(count), std::span(values).first(count));
  });
}

void DiffusionGenerator::visit_couplings(
    GlobalIndex begin, GlobalIndex end,
    const std::function<void(const std::array<double, 6>&)>& visit) const {
  for_each_point(begin, end,
                 [&](GlobalIndex /*row*/, const Point& point) { visit(point.couplings); });
}

void DiffusionGenerator::sum_missing_weights(GlobalIndex begin, GlobalIndex end,
                                             std::span<double> missing) const {
  for_each_point(begin, end, [&](GlobalIndex row, const Point& point) {
    double sum = 0;
    for (std::size_t i = 0; i < 6; ++i)
      if (!point.is_inside[i]) sum += point.couplings[i];
    missing[static_cast<std::size_t>(row - begin)] = sum;
  });
}

}  // namespace weft::spmv
