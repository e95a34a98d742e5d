#include "spmv/problems/stencil_generator.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace weft::spmv {
namespace {

constexpr std::size_t most_legs = 27;

bool is_between(GlobalIndex coordinate, GlobalIndex size) {
  return coordinate >= 0 && coordinate < size;
}

}  // namespace

StencilGenerator::StencilGenerator(const Problem& problem) : grid_(problem.grid) {
  const bool has_corners = problem.kind == ProblemKind::poisson3d27;
  const int depth = problem.kind == ProblemKind::poisson2d ? 0 : 1;
  const auto& weight = problem.weights;
  const double diagonal =
      has_corners ? 26 : 2 * (weight[0] + weight[1] + (depth == 0 ? 0 : weight[2]));
  for (int z = -depth; z <= depth; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const int steps = std::abs(x) + std::abs(y) + std::abs(z);
        if (steps == 0)
          add_leg(x, y, z, diagonal);
        else if (has_corners)
          add_leg(x, y, z, -1);
        else if (steps == 1)
          add_leg(x, y, z, -weight[x != 0 ? 0 : y != 0 ? 1 : 2]);
      }
}

void StencilGenerator::add_leg(int x, int y, int z, double value) {
  legs_.push_back({x, y, z, x + grid_.x * (y + grid_.y * z), value});
}

StencilGenerator::Line StencilGenerator::line_at(GlobalIndex row, GlobalIndex end) const {
  const GlobalIndex line = row / grid_.x;
  return {row, std::min(end, (line + 1) * grid_.x), row % grid_.x, line % grid_.y, line / grid_.y};
}

bool StencilGenerator::is_inside(const Line& line, const Leg& leg) const {
  return is_between(line.y + leg.y, grid_.y) && is_between(line.z + leg.z, grid_.z);
}

void StencilGenerator::visit_rows(GlobalIndex begin, GlobalIndex end,
                                  const RowVisitor& visit) const {
  std::array<GlobalIndex, most_legs> columns;
  std::array<double, most_legs> values;
  std::vector<Leg> legs;
  for (GlobalIndex row = begin; row < end;) {
    const Line line = line_at(row, end);
    legs.clear();
    for (const Leg& leg : legs_)
      if (is_inside(line, leg)) legs.push_back(leg);
    for (GlobalIndex x = line.x; row < line.end; ++row, ++x) {
      std::size_t count = 0;
      for (const Leg& leg : legs)
        if (is_between(x + leg.x, grid_.x)) {
          columns[count] = row + leg.distance;
          values[count++] = leg.value;
        }
      visit(row, {columns.data(), count}, {values.data(), count});
    }
  }
}

void StencilGenerator::sum_missing_weights(GlobalIndex begin, GlobalIndex end,
                                           std::span<double> missing) const {
  for (GlobalIndex row = begin; row < end;) {
    const Line line = line_at(row, end);
    const auto sum_at = [&](GlobalIndex x) {
      double sum = 0;
      for (const Leg& leg : legs_)
        if (!is_between(x + leg.x, grid_.x) || !is_inside(line, leg)) sum -= leg.value;
      return sum;
    };
    const double between = grid_.x > 2 ? sum_at(1) : 0;  // all but the ends of a line are alike
    for (GlobalIndex x = line.x; row < line.end; ++row, ++x)
      missing[static_cast<std::size_t>(row - begin)] =
          x == 0 || x == grid_.x - 1 ? sum_at(x) : between;
  }
}

}  // namespace weft::spmv
