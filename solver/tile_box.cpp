#include "solver/tile_box.h"

#include <algorithm>
#include <cstddef>

#include "perfmodel/simd.h"

namespace weft::solver {
namespace {

using perfmodel::Lane8;
using perfmodel::lanes;

/// Where point (x, y) of the tile is in an array over the box.
std::size_t place(const TileBox& box, int x, int y) {
  return static_cast<std::size_t>(y - box.area.y_begin) *
             static_cast<std::size_t>(box.area.width()) +
         static_cast<std::size_t>(x - box.area.x_begin);
}

[[gnu::always_inline]] inline double row_square(const double* x, const double* b,
                                                std::ptrdiff_t stride, std::ptrdiff_t count) {
  Lane8 sums{};
  std::ptrdiff_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const Lane8 r = lanes(b + i).value -
                    (4 * lanes(x + i).value - lanes(x + i - stride).value - lanes(x + i - 1).value -
                     lanes(x + i + 1).value - lanes(x + i + stride).value);
    sums += r * r;
  }
  double sum =
      ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  for (; i < count; ++i) {
    const double r = b[i] - (4 * x[i] - x[i - stride] - x[i - 1] - x[i + 1] - x[i + stride]);
    sum += r * r;
  }
  return sum;
}

}  // namespace

TileBox TileBox::of_tile(int tiles_per_side, int points_per_side, int overlap, int column,
                         int row) {
  TileBox box;
  box.west = column > 0;
  box.east = column < tiles_per_side - 1;
  box.south = row > 0;
  box.north = row < tiles_per_side - 1;
  box.area = {box.west ? -overlap : 0, points_per_side + (box.east ? overlap : 0),
              box.south ? -overlap : 0, points_per_side + (box.north ? overlap : 0)};
  return box;
}

RobinBox TileBox::matrix(double beta) const {
  return {.width = area.width(),
          .height = area.height(),
          .west = west ? beta : 0,
          .east = east ? beta : 0,
          .south = south ? beta : 0,
          .north = north ? beta : 0};
}

double residual_square(const TileLayout& layout, const TileBox& box, const double* values,
                       std::span<const double> source) {
  double sum = 0;
  const int points = layout.points_per_side();
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    for (int y = 0; y < points; ++y)
      sum += row_square(values + layout.index(0, y), source.data() + place(box, 0, y),
                        layout.row_stride(), points);
  });
  return sum;
}

void form_right_hand_side(const TileLayout& layout, const TileBox& box, double beta,
                          const double* values, std::span<const double> source,
                          std::span<double> out) {
  std::copy(source.begin(), source.end(), out.begin());
  const TileArea& area = box.area;
  const auto add_column = [&](int x, int outside) {
    for (int y = area.y_begin; y < area.y_end; ++y)
      out[place(box, x, y)] += values[layout.index(outside, y)] - beta * values[layout.index(x, y)];
  };
  const auto add_row = [&](int y, int outside) {
    for (int x = area.x_begin; x < area.x_end; ++x)
      out[place(box, x, y)] += values[layout.index(x, outside)] - beta * values[layout.index(x, y)];
  };
  if (box.west) add_column(area.x_begin, area.x_begin - 1);
  if (box.east) add_column(area.x_end - 1, area.x_end);
  if (box.south) add_row(area.y_begin, area.y_begin - 1);
  if (box.north) add_row(area.y_end - 1, area.y_end);
}

void keep_own_points(const TileLayout& layout, const TileBox& box, std::span<const double> solution,
                     double* values) {
  const int points = layout.points_per_side();
  for (int y = 0; y < points; ++y)
    std::copy_n(solution.data() + place(box, 0, y), points, values + layout.index(0, y));
}

}  // namespace weft::solver
