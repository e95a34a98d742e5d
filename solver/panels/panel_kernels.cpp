#include "solver/panels/panel_kernels.h"

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

/// Where each of some panels goes on that are read together, and where those that are read next do.
template <int count>
struct Streams {
  std::array<const double*, count> now;
  std::array<const double*, count> next;
};

/// Panels `first` on, from row `begin` on; next the panels after them, and after the last the next
/// rows of the first.
template <int count>
Streams<count> streams_of(Panels panels, std::size_t first, std::int64_t begin, std::int64_t rows,
                          int width) {
  Streams<count> streams{};
  for (std::size_t p = 0; p < count; ++p) {
    const std::size_t after = first + count + p;
    const bool is_next_chunk = after >= panels.size();
    streams.now[p] = panels[first + p] + begin * width;
    streams.next[p] = panels[is_next_chunk ? after % panels.size() : after] +
                      (is_next_chunk ? begin + rows : begin) * width;
  }
  return streams;
}

/// Calls `work` for each row, and fetches as many of the next panels: the hardware does not foresee
/// where a chunk goes on. A whole search took a tenth longer without.
template <int width, int count, class Work>
[[gnu::always_inline]] inline void for_each_row(const Streams<count>& streams, std::int64_t rows,
                                                const Work& work) {
  constexpr std::int64_t line = std::max(width, 64 / static_cast<int>(sizeof(double)));
  const std::int64_t end = rows * width;
  std::int64_t i = 0;
  for (; i + line <= end; i += line) {
    unrolled<count>([&](auto p) __attribute__((always_inline)) {
      __builtin_prefetch(streams.next[p] + i, 0, 3);
    });
    for (std::int64_t row = i; row < i + line; row += width) work(row);
  }
  for (; i < end; i += width) work(i);
}

template <class Simd, int width, int count>
[[gnu::always_inline]] inline void sum_some(const Streams<count>& streams, const double* y,
                                            std::int64_t rows, double* sums) {
  using Row = typename RowOf<Simd, width>::Type;
  std::array<Row, std::size_t{count} * width> local{};
  for_each_row<width, count>(streams, rows, [&](std::int64_t i) __attribute__((always_inline)) {
    const Row row = load<Row>(y + i);
    unrolled<count * width>([&](auto k) __attribute__((always_inline)) {
      local[k] += streams.now[k / width][i + k % width] * row;
    });
  });
  unrolled<count * width>(
      [&](auto k) __attribute__((always_inline)) { store(sums + k * width, local[k]); });
}

template <class Simd, int width, int count>
[[gnu::always_inline]] inline void add_some(const Streams<count>& streams, const double* c,
                                            std::int64_t rows, double* y) {
  using Row = typename RowOf<Simd, width>::Type;
  std::array<Row, std::size_t{count} * width> local{};
  unrolled<count * width>(
      [&](auto k) __attribute__((always_inline)) { local[k] = load<Row>(c + k * width); });
  for_each_row<width, count>(streams, rows, [&](std::int64_t i) __attribute__((always_inline)) {
    Row row = load<Row>(y + i);
    unrolled<count * width>([&](auto k) __attribute__((always_inline)) {
      row += streams.now[k / width][i + k % width] * local[k];
    });
    store(y + i, row);
  });
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
    std::size_t p = 0;
    for (; p + most <= panels.size(); p += most)
      sum_some<Simd, constant, most>(streams_of<most>(panels, p, begin, rows, constant), y, rows,
                                     sums + static_cast<std::ptrdiff_t>(p) * size);
    for (; p < panels.size(); ++p)
      sum_some<Simd, constant, 1>(streams_of<1>(panels, p, begin, rows, constant), y, rows,
                                  sums + static_cast<std::ptrdiff_t>(p) * size);
  });
}

void add_combination(int width, Panels panels, std::int64_t begin, const double* c,
                     std::int64_t rows, double* y) {
  with_panel_width(width, [&]<class Simd, int constant>() __attribute__((always_inline)) {
    constexpr int most = together<constant>;
    constexpr std::ptrdiff_t size = std::ptrdiff_t{constant} * constant;
    std::size_t p = 0;
    for (; p + most <= panels.size(); p += most)
      add_some<Simd, constant, most>(streams_of<most>(panels, p, begin, rows, constant),
                                     c + static_cast<std::ptrdiff_t>(p) * size, rows, y);
    for (; p < panels.size(); ++p)
      add_some<Simd, constant, 1>(streams_of<1>(panels, p, begin, rows, constant),
                                  c + static_cast<std::ptrdiff_t>(p) * size, rows, y);
  });
}

}  // namespace weft::solver
