#include "spmv/grid/average_sweep.h"

#include <algorithm>

#include "perfmodel/fetch.h"
#include "perfmodel/simd.h"
#include "spmv/grid/rows_ahead.h"
#include "spmv/sums/binned_sum.h"

namespace weft::spmv {
namespace {

using perfmodel::load;
using perfmodel::store;

constexpr double sixth = 1.0 / 6.0;

/// Three planes of a block of rows take this much of the second-level cache.
constexpr std::ptrdiff_t block_bytes = std::ptrdiff_t{384} * 1024;

/// Stores the result for each point from the sum of its neighbours.
struct Store {
  template <class Value>
  [[gnu::always_inline]] void take(const double*, double* to, const Value& sum) const {
    store(to, sum * sixth);
  }
};

/// Adds the square of the residual for each point, to a sum in registers, and stores the result
/// where `is_stored`.
template <class Simd, bool is_stored>
struct AddResidual {
  BinnedSum::In<Simd>& squares;

  template <class Value>
  [[gnu::always_inline]] void take(const double* from, double* to, const Value& sum) const {
    const auto residual = sum - load<Value>(from) * 6.0;
    squares.add(residual * residual);
    if constexpr (is_stored) store(to, sum * sixth);
  }
};

template <class Value, class Action>
[[gnu::always_inline]] inline void step(const double* u, double* to, std::ptrdiff_t row,
                                        std::ptrdiff_t plane, const Action& action) {
  const auto sum =
      ((load<Value>(u - 1) + load<Value>(u + 1)) + (load<Value>(u - row) + load<Value>(u + row))) +
      (load<Value>(u - plane) + load<Value>(u + plane));
  action.template take<Value>(u, to, sum);
}

/// `is_in_cache`: nothing is to be fetched; else what is `soon` elements from here.
template <class Simd, bool is_in_cache, class Action>
[[gnu::always_inline]] inline void walk_row(const double* from, double* to, std::ptrdiff_t count,
                                            std::ptrdiff_t row, std::ptrdiff_t plane,
                                            std::ptrdiff_t soon, const Action& action) {
  const auto at = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
    if constexpr (!is_in_cache) perfmodel::fetch<Value>(i, from + plane + soon, to + soon);
    step<Value>(from + i, to + i, row, plane, action);
  };
  if constexpr (requires { action.squares; })
    for_lanes_of_sums<Simd>(count, at, action.squares);
  else
    perfmodel::for_lanes<Simd>(count, at);
}

template <class Simd, bool is_in_cache, class Action>
[[gnu::always_inline]] inline void walk_rows(const GridLayout& layout, const double* from,
                                             double* to, const GridBox& box, const Action& action) {
  const std::ptrdiff_t row = layout.row_stride();
  const std::ptrdiff_t plane = layout.plane_stride();
  const RowsAhead ahead(layout, box.size(0), box.begin[1], box.end[1]);
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
      const std::size_t first = layout.index(box.begin[0], y, z);
      walk_row<Simd, is_in_cache>(from + first, to + first, box.size(0), row, plane, ahead.from(y),
                                  action);
    }
}

template <class Simd, class Action>
[[gnu::always_inline]] inline void walk(const GridLayout& layout, const double* from, double* to,
                                        const GridBox& box, const Action& action) {
  const GlobalIndex block = std::max<GlobalIndex>(
      4, block_bytes / (3 * layout.row_stride() * static_cast<std::ptrdiff_t>(sizeof(double))));
  GridBox rows = box;
  for (GlobalIndex y = box.begin[1]; y < box.end[1]; y += block) {
    rows.begin[1] = y;
    rows.end[1] = std::min(y + block, box.end[1]);
    walk_rows<Simd, false>(layout, from, to, rows, action);
  }
}

/// Adds the squares of all residuals of `box`; stores the results where `is_stored`.
template <bool is_stored>
void walk_with_residual(const GridLayout& layout, const double* from, double* to,
                        const GridBox& box, double bound,
                        comm_thread::ExactAccumulator& residual_square) {
  if (box.is_empty()) return;
  BinnedSum squares(bound);
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    BinnedSum::In<Simd> local(squares);
    walk<Simd>(layout, from, to, box, AddResidual<Simd, is_stored>{local});
    local.store(squares);
  });
  squares.flush(residual_square);
}

}  // namespace

void sweep_average(const GridLayout& layout, const double* from, double* to, const GridBox& box) {
  if (box.is_empty()) return;
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    walk<Simd>(layout, from, to, box, Store{});
  });
}

void sweep_average_rows(const GridLayout& layout, const double* from, double* to,
                        const GridBox& rows) {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    walk_rows<Simd, true>(layout, from, to, rows, Store{});
  });
}

void sweep_average_with_residual(const GridLayout& layout, const double* from, double* to,
                                 const GridBox& box, double bound,
                                 comm_thread::ExactAccumulator& residual_square) {
  walk_with_residual<true>(layout, from, to, box, bound, residual_square);
}

void add_average_residual(const GridLayout& layout, const double* from, const GridBox& box,
                          double bound, comm_thread::ExactAccumulator& residual_square) {
  // Nothing is stored: any address will do.
  walk_with_residual<false>(layout, from, const_cast<double*>(from), box, bound, residual_square);
}

}  // namespace weft::spmv
