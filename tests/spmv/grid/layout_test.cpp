#include <cstddef>
#include <set>

#include <catch2/catch.hpp>

#include "spmv/grid/grid_layout.h"
#include "tests/support/grid_reference.h"

namespace weft::spmv {
namespace {

constexpr std::ptrdiff_t line = 8;  // doubles in 64 bytes
constexpr std::ptrdiff_t page = 512;  // in 4096

std::size_t place(const GridLayout& layout, const GridBox& point) {
  return layout.index(point.begin[0], point.begin[1], point.begin[2]);
}

TEST_CASE("a small layout, by hand") {
  // Row: 8 elements in front, 3 own, 1 behind: two lines. Plane: 4 rows.
  const GridLayout layout({{10, 20, 30}, {13, 22, 31}}, 1);
  CHECK(layout.with_ghosts() == GridBox{{9, 19, 29}, {14, 23, 32}});
  CHECK(layout.row_stride() == 16);
  CHECK(layout.plane_stride() == 64);
  CHECK(layout.index(10, 20, 30) == 64 + 16 + 8);
  CHECK(layout.index(9, 19, 29) == 7);
  CHECK(layout.index(13, 22, 31) == 2 * 64 + 3 * 16 + 11);
}

TEST_CASE("every point and every ghost has an element of its own, and own rows begin a line") {
  for (const int depth : {1, 2, 3, 8, 9})
    for (const GlobalIndex size : {1, 2, 7, 8, 9}) {
      CAPTURE(depth, size);
      const GridLayout layout({{5, -6, 7}, {5 + size, -6 + 3, 7 + 2}}, depth);
      std::set<std::size_t> places;
      for (const GridBox& point : tests::points(layout.with_ghosts()))
        places.insert(place(layout, point));
      CHECK(std::ssize(places) == layout.with_ghosts().point_count());
      CHECK(*places.rbegin() < layout.element_count());
      for (const GridBox& point : tests::points(layout.own())) {
        const auto [x, y, z] = point.begin;
        if (x == 5) CHECK(place(layout, point) % line == 0);
        const auto here = static_cast<std::ptrdiff_t>(place(layout, point));
        CHECK(static_cast<std::ptrdiff_t>(layout.index(x + 1, y, z)) == here + 1);
        CHECK(static_cast<std::ptrdiff_t>(layout.index(x, y + 1, z)) == here + layout.row_stride());
        CHECK(static_cast<std::ptrdiff_t>(layout.index(x, y, z + 1)) ==
              here + layout.plane_stride());
      }
    }
}

TEST_CASE("rows and planes are whole lines, but not whole pages apart") {
  for (GlobalIndex x = 1; x <= 1100; x += x < 490 || x > 520 ? 61 : 1)
    for (const GlobalIndex y : {2, 6, 14, 62}) {
      CAPTURE(x, y);
      const GridLayout layout({{0, 0, 0}, {x, y, 2}}, 1);
      for (const std::ptrdiff_t stride : {layout.row_stride(), layout.plane_stride()}) {
        CHECK(stride % line == 0);
        CHECK(stride % page != 0);
      }
    }
  CHECK(GridLayout({{0, 0, 0}, {503, 2, 2}}, 1).row_stride() == page + line);
  CHECK(GridLayout({{0, 0, 0}, {55, 6, 2}}, 1).plane_stride() == page + line);
}

}  // namespace
}  // namespace weft::spmv
