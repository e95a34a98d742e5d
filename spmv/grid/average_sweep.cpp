#include "spmv/grid/average_sweep.h"

#include <algorithm>

#include "perfmodel/fetch.h"
#include "perfmodel/simd.h"
#include "spmv/sums/binned_sum.h"

namespace weft::spmv {
namespace {

using perfmodel::elements;
using perfmodel::Lanes;
using perfmodel::SingleLane;

constexpr double sixth = 1.0 / 6.0;

/// Three planes of a block of rows take this much of the second-level cache.
constexpr std::ptrdiff_t block_bytes = 384 * 1024;

/// Stores the result for each point from the sum of its neighbours.
struct Store {
  template <class Elements, class Value>
  [[gnu::always_inline]] void take(const double*, double* to, const Value& sum) const {
    elements<Elements>(to).value = sum * sixth;
  }
};

template <bool is_stored>
struct AddResidual {
  BinnedSum* squares;

  template <class Elements, class Value>
  [[gnu::always_inline]] void take(const double* from, double* to, const Value& sum) const {
    const auto residual = sum - elements<Elements>(from).value * 6.0;
    squares->add(residual * residual);
    if constexpr (is_stored) Store{}.take<Elements>(from, to, sum);
  }
};

template <class Elements, class Action>
[[gnu::always_inline]] inline void step(const double* u, double* to, std::ptrdiff_t row,
                                        std::ptrdiff_t plane, const Action& action) {
  const auto sum = ((elements<Elements>(u - 1).value + elements<Elements>(u + 1).value) +
                    (elements<Elements>(u - row).value + elements<Elements>(u + row).value)) +
                   (elements<Elements>(u - plane).value + elements<Elements>(u + plane).value);
  action.template take<Elements>(u, to, sum);
}

/// `is_in_cache`: nothing is to be fetched.
template <bool is_in_cache, class Action>
[[gnu::always_inline]] inline void walk_row(const double* from, double* to, std::ptrdiff_t count,
                                            std::ptrdiff_t row, std::ptrdiff_t plane,
                                            const Action& action) {
  std::ptrdiff_t i = 0;
  for (; i + 8 <= count; i += 8) {
    if constexpr (!is_in_cache)
      perfmodel::fetch<Lanes>(i, from + plane + perfmodel::fetch_lead, to + perfmodel::fetch_lead);
    step<Lanes>(from + i, to + i, row, plane, action);
  }
  for (; i < count; ++i) step<SingleLane>(from + i, to + i, row, plane, action);
}

template <bool is_in_cache, class Action>
[[gnu::always_inline]] inline void walk_rows(const GridLayout& layout, const double* from,
                                             double* to, const GridBox& box, const Action& action) {
  const std::ptrdiff_t row = layout.row_stride();
  const std::ptrdiff_t plane = layout.plane_stride();
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
      const std::size_t first = layout.index(box.begin[0], y, z);
      walk_row<is_in_cache>(from + first, to + first, box.size(0), row, plane, action);
    }
}

template <class Action>
void walk(const GridLayout& layout, const double* from, double* to, const GridBox& box,
          const Action& action) {
  const GlobalIndex block = std::max<GlobalIndex>(
      4, block_bytes / (3 * layout.row_stride() * static_cast<std::ptrdiff_t>(sizeof(double))));
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    GridBox rows = box;
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; y += block) {
      rows.begin[1] = y;
      rows.end[1] = std::min(y + block, box.end[1]);
      walk_rows<false>(layout, from, to, rows, action);
    }
  });
}

}  // namespace

void sweep_average(const GridLayout& layout, const double* from, double* to, const GridBox& box) {
  if (!box.is_empty()) walk(layout, from, to, box, Store{});
}

void sweep_average_rows(const GridLayout& layout, const double* from, double* to,
                        const GridBox& rows) {
  perfmodel::on_widest_simd(
      [&]() __attribute__((always_inline)) { walk_rows<true>(layout, from, to, rows, Store{}); });
}

void sweep_average_with_residual(const GridLayout& layout, const double* from, double* to,
                                 const GridBox& box, double bound,
                                 comm_thread::ExactAccumulator& residual_square) {
  if (box.is_empty()) return;
  BinnedSum squares(bound);
  walk(layout, from, to, box, AddResidual<true>{&squares});
  squares.flush(residual_square);
}

void add_average_residual(const GridLayout& layout, const double* from, const GridBox& box,
                          double bound, comm_thread::ExactAccumulator& residual_square) {
  if (box.is_empty()) return;
  BinnedSum squares(bound);
  // Nothing is stored: any address will do.
  walk(layout, from, const_cast<double*>(from), box, AddResidual<false>{&squares});
  squares.flush(residual_square);
}

}  // namespace weft::spmv
