#include "solver/eigen/panel_kernels.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "perfmodel/lanes.h"
#include "perfmodel/simd.h"

namespace weft::solver {
namespace {

using perfmodel::load;
using perfmodel::store;
using perfmodel::unrolled;

/// Entries of a row, side by side.
template <class Simd, int width>
struct RowOf {
  using Type = typename Simd::template Lanes<double, width>;
};
template <class Simd>
struct RowOf<Simd, 1> {
  using Type = double;
};

/// Panels of that width that are multiplied together: their sums fit into the registers of AVX2.
template <int width>
constexpr int together = 8 / width;

template <class Simd, int width, int count>
[[gnu::always_inline]] inline void sum_some(const double* const* panels, std::int64_t begin,
                                            const double* y, std::int64_t rows, double* sums) {
  using Row = typename RowOf<Simd, width>::Type;
  std::array<Row, std::size_t{count} * width> local{};
  std::array<const double*, count> q{};
  for (std::size_t p = 0; p < count; ++p) q[p] = panels[p] + begin * width;
  for (std::int64_t i = 0; i < rows * width; i += width) {
    const Row row = load<Row>(y + i);
    unrolled<count * width>([&](auto k) __attribute__((always_inline)) {
      local[k] += q[k / width][i + k % width] * row;
    });
  }
  unrolled<count * width>(
      [&](auto k) __attribute__((always_inline)) { store(sums + k * width, local[k]); });
}

template <class Simd, int width, int count>
[[gnu::always_inline]] inline void add_some(const double* const* panels, std::int64_t begin,
                                            const double* c, std::int64_t rows, double* y) {
  using Row = typename RowOf<Simd, width>::Type;
  std::array<Row, std::size_t{count} * width> local{};
  std::array<const double*, count> q{};
  for (std::size_t p = 0; p < count; ++p) q[p] = panels[p] + begin * width;
  unrolled<count * width>(
      [&](auto k) __attribute__((always_inline)) { local[k] = load<Row>(c + k * width); });
  for (std::int64_t i = 0; i < rows * width; i += width) {
    Row row = load<Row>(y + i);
    unrolled<count * width>([&](auto k) __attribute__((always_inline)) {
      row += q[k / width][i + k % width] * local[k];
    });
    store(y + i, row);
  }
}

/// Calls work.operator()<Simd, width>() for the width of a panel.
template <class Work>
void with_panel_width(int width, const Work& work) {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    if (width == 1)
      work.template operator()<Simd, 1>();
    else if (width == 2)
      work.template operator()<Simd, 2>();
    else if (width == 4)
      work.template operator()<Simd, 4>();
    else
      work.template operator()<Simd, 8>();
  });
}

}  // namespace

void sum_products(int width, Panels panels, std::int64_t begin, const double* y, std::int64_t rows,
                  double* sums) {
  with_panel_width(width, [&]<class Simd, int constant>() __attribute__((always_inline)) {
    constexpr int most = together<constant>;
    constexpr std::ptrdiff_t size = std::ptrdiff_t{constant} * constant;
    const int count = static_cast<int>(panels.size());
    int p = 0;
    for (; p + most <= count; p += most)
      sum_some<Simd, constant, most>(panels.data() + p, begin, y, rows, sums + p * size);
    for (; p < count; ++p)
      sum_some<Simd, constant, 1>(panels.data() + p, begin, y, rows, sums + p * size);
  });
}

void add_combination(int width, Panels panels, std::int64_t begin, const double* c,
                     std::int64_t rows, double* y) {
  with_panel_width(width, [&]<class Simd, int constant>() __attribute__((always_inline)) {
    constexpr int most = together<constant>;
    constexpr std::ptrdiff_t size = std::ptrdiff_t{constant} * constant;
    const int count = static_cast<int>(panels.size());
    int p = 0;
    for (; p + most <= count; p += most)
      add_some<Simd, constant, most>(panels.data() + p, begin, c + p * size, rows, y);
    for (; p < count; ++p)
      add_some<Simd, constant, 1>(panels.data() + p, begin, c + p * size, rows, y);
  });
}

}  // namespace weft::solver
