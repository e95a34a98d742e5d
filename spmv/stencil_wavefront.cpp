#include "spmv/stencil_wavefront.h"

#include <algorithm>
#include <limits>

#include "spmv/grid_strips.h"
#include "spmv/stencil_kernel.h"

namespace weft::spmv {
namespace {

constexpr GlobalIndex beyond = std::numeric_limits<GlobalIndex>::max() / 2;

/// The rows of plane z of `box` that a strip does, `lag` rows and planes behind the first stage.
struct Rows {
  GlobalIndex z = 0;
  GlobalIndex begin = 0;
  GlobalIndex end = 0;
};
[[gnu::always_inline]] inline Rows rows_of_stage(const GridBox& box, const GridBox& strip,
                                                 const GridBox& whole, GlobalIndex front,
                                                 GlobalIndex lag) {
  const GlobalIndex z = front - lag;
  if (z < box.begin[2] || z >= box.end[2]) return {};
  const GlobalIndex first = strip.begin[1] == whole.begin[1] ? -beyond : strip.begin[1] - lag;
  const GlobalIndex last = strip.end[1] == whole.end[1] ? beyond : strip.end[1] - lag;
  return {z, std::max(first, box.begin[1]), std::min(last, box.end[1])};
}

/// Everything about one row that does not change along it.
template <class Shape>
class RowWork {
 public:
  RowWork(const Shape& shape, const GridLayout& layout, double alpha, double beta)
      : shape_(shape),
        row_(layout.row_stride()),
        plane_(layout.plane_stride()),
        alpha_(alpha),
        beta_(beta) {}

  [[gnu::always_inline]] void direction(const double* r, double* p, std::ptrdiff_t count) const {
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      elements<Elements>(p + i).value =
          elements<Elements>(r + i).value + beta_ * elements<Elements>(p + i).value;
    });
  }

  [[gnu::always_inline]] void update(const double* p, double* x, double* r, std::ptrdiff_t count,
                                     CloseSum& r_dot_r) const {
    CloseSum local = r_dot_r;  // in registers
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      decltype(Elements::value) product;
      shape_.template at<Elements>(p + i, row_, plane_, product);
      elements<Elements>(x + i).value += alpha_ * elements<Elements>(p + i).value;
      const auto residual = elements<Elements>(r + i).value - alpha_ * product;
      elements<Elements>(r + i).value = residual;
      local.add(residual * residual);
    });
    local.carry();
    r_dot_r = local;
  }

  template <bool has_square>
  [[gnu::always_inline]] void curvature(const double* r, std::ptrdiff_t count, CloseSum* r_dot_r,
                                        CloseSum& r_dot_ar) const {
    CloseSum local = r_dot_ar;
    CloseSum squares = has_square ? *r_dot_r : r_dot_ar;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      decltype(Elements::value) product;
      shape_.template at<Elements>(r + i, row_, plane_, product);
      const auto value = elements<Elements>(r + i).value;
      local.add(value * product);
      if constexpr (has_square) squares.add(value * value);
    });
    local.carry();
    r_dot_ar = local;
    if constexpr (has_square) {
      squares.carry();
      *r_dot_r = squares;
    }
  }

 private:
  const Shape shape_;
  std::ptrdiff_t row_;
  std::ptrdiff_t plane_;
  double alpha_;
  double beta_;
};

template <class Shape>
[[gnu::always_inline]] inline void advance_strip(const RowWork<Shape>& work,
                                                 const GridLayout& layout, const StencilStep& step,
                                                 const GridBox& strip, const GridBox& whole,
                                                 CloseSum& r_dot_r, CloseSum& r_dot_ar) {
  double* const r = step.r;
  double* const p = step.p;
  for (GlobalIndex front = whole.begin[2]; front < whole.end[2] + 2; ++front) {
    const Rows first = rows_of_stage(step.direction, strip, whole, front, 0);
    for (GlobalIndex y = first.begin; y < first.end; ++y) {
      const std::size_t i = layout.index(step.direction.begin[0], y, first.z);
      work.direction(r + i, p + i, step.direction.size(0));
    }
    const Rows second = rows_of_stage(step.update, strip, whole, front, 1);
    for (GlobalIndex y = second.begin; y < second.end; ++y) {
      const std::size_t i = layout.index(step.update.begin[0], y, second.z);
      work.update(p + i, step.x + i, r + i, step.update.size(0), r_dot_r);
    }
    const Rows third = rows_of_stage(step.curvature, strip, whole, front, 2);
    for (GlobalIndex y = third.begin; y < third.end; ++y) {
      const std::size_t i = layout.index(step.curvature.begin[0], y, third.z);
      work.template curvature<false>(r + i, step.curvature.size(0), nullptr, r_dot_ar);
    }
  }
}

template <bool has_square>
void add_curvature_of(const GridStencil& stencil, const GridLayout& layout, const double* r,
                      const GridBox& box, CloseSum* r_dot_r, CloseSum& r_dot_ar) {
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    const RowWork work(shape, layout, 0, 0);
    for (const GridBox& strip : strips(box, layout, 3))
      for (GlobalIndex z = strip.begin[2]; z < strip.end[2]; ++z)
        for (GlobalIndex y = strip.begin[1]; y < strip.end[1]; ++y)
          work.template curvature<has_square>(r + layout.index(strip.begin[0], y, z), strip.size(0),
                                              r_dot_r, r_dot_ar);
  });
}

}  // namespace

void advance_in_one_pass(const GridStencil& stencil, const GridLayout& layout,
                         const StencilStep& step, CloseSum& r_dot_r, CloseSum& r_dot_ar) {
  if (step.update.is_empty()) return;
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    const RowWork work(shape, layout, step.alpha, step.beta);
    // Of r four planes, of p three, of x one are in use at a time.
    for (const GridBox& strip : strips(step.update, layout, 8))
      advance_strip(work, layout, step, strip, step.update, r_dot_r, r_dot_ar);
  });
}

void renew_direction(const GridLayout& layout, double beta, const double* r, double* p,
                     const GridBox& box) {
  if (box.is_empty()) return;
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
      for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
        const std::size_t first = layout.index(box.begin[0], y, z);
        for_lanes(box.size(0),
                  [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
                    elements<Elements>(p + first + i).value =
                        elements<Elements>(r + first + i).value +
                        beta * elements<Elements>(p + first + i).value;
                  });
      }
  });
}

void add_curvature(const GridStencil& stencil, const GridLayout& layout, const double* r,
                   const GridBox& box, CloseSum* r_dot_r, CloseSum& r_dot_ar) {
  if (box.is_empty()) return;
  if (r_dot_r)
    add_curvature_of<true>(stencil, layout, r, box, r_dot_r, r_dot_ar);
  else
    add_curvature_of<false>(stencil, layout, r, box, nullptr, r_dot_ar);
}

}  // namespace weft::spmv
