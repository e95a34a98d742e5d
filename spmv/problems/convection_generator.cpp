#include "spmv/problems/convection_generator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace weft::spmv {

ConvectionGenerator::ConvectionGenerator(const Problem& problem) : grid_(problem.grid) {
  const double distance = 1 / (static_cast<double>(grid_.x) + 1);
  for (std::size_t i = 0; i < 3; ++i) {
    const double flow = problem.weights[i] * distance;
    before_[i] = -1 - std::max(flow, 0.0);
    after_[i] = -1 + std::min(flow, 0.0);
    diagonal_ += 2 + std::abs(flow);
  }
}

void ConvectionGenerator::visit_rows(GlobalIndex begin, GlobalIndex end,
                                     const RowVisitor& visit) const {
  std::array<GlobalIndex, 7> columns{};
  std::array<double, 7> values{};
  const GlobalIndex plane = grid_.x * grid_.y;
  for (GlobalIndex row = begin; row < end; ++row) {
    const GlobalIndex x = row % grid_.x;
    const GlobalIndex y = row / grid_.x % grid_.y;
    const GlobalIndex z = row / plane;
    std::size_t count = 0;
    const auto add = [&](bool is_inside, GlobalIndex column, double value) {
      if (!is_inside) return;
      columns[count] = column;
      values[count++] = value;
    };
    add(z > 0, row - plane, before_[2]);
    add(y > 0, row - grid_.x, before_[1]);
    add(x > 0, row - 1, before_[0]);
    add(true, row, diagonal_);
    add(x + 1 < grid_.x, row + 1, after_[0]);
    add(y + 1 < grid_.y, row + grid_.x, after_[1]);
    add(z + 1 < grid_.z, row + plane, after_[2]);
    visit(row, std::span(columns).first(count), std::span(values).first(count));
  }
}

}  // namespace weft::spmv
