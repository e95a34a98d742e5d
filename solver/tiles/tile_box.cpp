#include "solver/tiles/tile_box.h"

#include <algorithm>
#include <cstddef>

#include "perfmodel/simd.h"

namespace weft::solver {
namespace {

using perfmodel::load;
using perfmodel::store;

template <class Simd>
[[gnu::always_inline]] inline void form_row(const double* x, const double* b, std::ptrdiff_t stride,
                                            std::ptrdiff_t count, double* r) {
  perfmodel::for_lanes<Simd>(
      count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
        store(r + i, load<Value>(b + i) - (4 * load<Value>(x + i) - load<Value>(x + i - stride) -
                                           load<Value>(x + i - 1) - load<Value>(x + i + 1) -
                                           load<Value>(x + i + stride)));
      });
}

template <class Simd>
[[gnu::always_inline]] inline double square_of_row(const double* r, std::ptrdiff_t count) {
  using Lane8 = typename Simd::Lane8;
  Lane8 sums{};
  std::ptrdiff_t i = 0;
  for (; i + 8 <= count; i += 8) sums += load<Lane8>(r + i) * load<Lane8>(r + i);
  double sum =
      ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  for (; i < count; ++i) sum += r[i] * r[i];
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

BoxFrame TileBox::frame(int overlap) const { return layers(overlap + 1); }

BoxFrame TileBox::edges(int overlap) const { return layers(overlap + std::max(overlap + 1, 2)); }

BoxFrame TileBox::layers(int count) const {
  return {west ? count : 0, east ? count : 0, south ? count : 0, north ? count : 0};
}

TileArea TileBox::inside(const BoxFrame& frame, int points_per_side) const {
  const TileArea inside{
      std::max(0, area.x_begin + frame.west), std::min(points_per_side, area.x_end - frame.east),
      std::max(0, area.y_begin + frame.south), std::min(points_per_side, area.y_end - frame.north)};
  return inside.width() > 0 && inside.height() > 0 ? inside : TileArea{};
}

double form_residual(const TileLayout& layout, const TileBox& box, const double* values,
                     std::span<const double> source, const BoxFrame& frame, std::span<double> r) {
  double sum = 0;
  const TileArea& area = box.area;
  const int points = layout.points_per_side();
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    const auto form = [&](int column, int row, int count) __attribute__((always_inline)) {
      const int begin = area.x_begin + column;
      const int y = area.y_begin + row;
      const std::size_t place = box.place(begin, y);
      form_row<Simd>(values + layout.index(begin, y), source.data() + place, layout.row_stride(),
                     count, r.data() + place);
      const int own_begin = std::max(begin, 0);
      const int own_end = std::min(begin + count, points);
      if (y >= 0 && y < points && own_begin < own_end)
        sum += square_of_row<Simd>(r.data() + box.place(own_begin, y), own_end - own_begin);
    };
    frame.for_each_run(area.width(), area.height(), form, [](int, int, int) {});
  });
  return sum;
}

void add_correction(const TileLayout& layout, const TileBox& box, const double* values,
                    double relaxation, std::span<const double> correction, const BoxFrame& frame,
                    double* next) {
  const int points = layout.points_per_side();
  const auto add = [&](int column, int row, int count) {
    const int y = box.area.y_begin + row;
    const int begin = std::max(0, box.area.x_begin + column);
    const int end = std::min(points, box.area.x_begin + column + count);
    if (y < 0 || y >= points) return;
    const double* const x = values + layout.index(begin, y);
    const double* const d = correction.data() + box.place(begin, y);
    double* const to = next + layout.index(begin, y);
    for (int i = 0; i < end - begin; ++i) to[i] = x[i] + relaxation * d[i];
  };
  frame.for_each_run(box.area.width(), box.area.height(), add, [](int, int, int) {});
}

}  // namespace weft::solver
