#include "tests/support/grid_reference.h"

#include <cmath>
#include <utility>

#include "comm_thread/engine/exact_accumulator.h"

namespace weft::tests {

using spmv::GlobalIndex;
using spmv::GridBox;
using spmv::GridLayout;

std::vector<GridBox> points(const GridBox& box) {
  std::vector<GridBox> result;
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y)
      for (GlobalIndex x = box.begin[0]; x < box.end[0]; ++x)
        result.push_back({{x, y, z}, {x + 1, y + 1, z + 1}});
  return result;
}

namespace {

double neighbour_sum(const GridLayout& layout, std::span<const double> u, const GridBox& point) {
  const auto [x, y, z] = point.begin;
  return ((u[layout.index(x - 1, y, z)] + u[layout.index(x + 1, y, z)]) +
          (u[layout.index(x, y - 1, z)] + u[layout.index(x, y + 1, z)])) +
         (u[layout.index(x, y, z - 1)] + u[layout.index(x, y, z + 1)]);
}

std::size_t place(const GridLayout& layout, const GridBox& point) {
  return layout.index(point.begin[0], point.begin[1], point.begin[2]);
}

}  // namespace

void sweep_grid(const GridLayout& layout, std::span<const double> from, std::span<double> to,
                const GridBox& box) {
  for (const GridBox& point : points(box))
    to[place(layout, point)] = neighbour_sum(layout, from, point) * (1.0 / 6);
}

std::vector<double> residual_squares(const GridLayout& layout, std::span<const double> values,
                                     const GridBox& box) {
  std::vector<double> squares;
  for (const GridBox& point : points(box)) {
    const double r = neighbour_sum(layout, values, point) - 6 * values[place(layout, point)];
    squares.push_back(r * r);
  }
  return squares;
}

double exact_sum(std::span<const double> values) {
  comm_thread::ExactAccumulator sum;
  for (const double value : values) sum.add(value);
  return sum.rounded();
}

double binned_sum(std::span<const double> values, double bound) {
  int exponent = 0;
  std::frexp(bound, &exponent);
  std::vector<double> kept;
  for (const double value : values)
    kept.push_back(std::ldexp(std::nearbyint(std::ldexp(value, 104 - exponent)), exponent - 104));
  return exact_sum(kept);
}

ReferenceDiffusion::ReferenceDiffusion(const spmv::DiffusionProblem& problem)
    : layout_({{0, 0, 0}, {problem.grid.x, problem.grid.y, problem.grid.z}}, 1),
      values_(layout_.element_count()) {
  for (const GridBox& point : points(layout_.with_ghosts())) {
    const auto [x, y, z] = point.begin;
    values_[place(layout_, point)] = intersection(point, layout_.own()).is_empty()
                                         ? problem.boundary_value(x, y, z)
                                         : problem.start_value();
  }
  new_values_ = values_;
}

void ReferenceDiffusion::sweep() {
  sweep_grid(layout_, values_, new_values_, layout_.own());
  std::swap(values_, new_values_);
}

}  // namespace weft::tests
