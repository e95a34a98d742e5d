#include "spmv/stencil_wavefront.h"

#include "perfmodel/fetch.h"
#include "spmv/grid_strips.h"
#include "spmv/stencil_kernel.h"

namespace weft::spmv {
namespace {

using perfmodel::fetch;
using perfmodel::fetch_lead;

/// Whether row y of plane z of the whole grid is in `box`.
[[gnu::always_inline]] inline bool has_row(const GridBox& box, GlobalIndex y, GlobalIndex z) {
  return z >= box.begin[2] && z < box.end[2] && y >= box.begin[1] && y < box.end[1];
}

/// Calls work(first element) for every row of `box`.
template <class Work>
[[gnu::always_inline]] inline void for_each_row(const GridLayout& layout, const GridBox& box,
                                                const Work& work) {
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) work(layout.index(box.begin[0], y, z));
}

/// Where the row is that is worked on `fetch_lead` elements or more after row y of the same plane,
/// in elements from there. Rows [begin, end) are gone through in each plane.
class RowsAhead {
 public:
  RowsAhead(const GridLayout& layout, GlobalIndex row_size, GlobalIndex begin, GlobalIndex end) {
    const GlobalIndex rows = (fetch_lead + row_size - 1) / row_size;
    last_ = end - rows;
    in_plane_ = rows * layout.row_stride();
    in_next_plane_ = in_plane_ + layout.plane_stride() - (end - begin) * layout.row_stride();
  }
  [[gnu::always_inline]] std::ptrdiff_t from(GlobalIndex y) const {
    return y < last_ ? in_plane_ : in_next_plane_;
  }

 private:
  GlobalIndex last_;
  std::ptrdiff_t in_plane_;
  std::ptrdiff_t in_next_plane_;
};

/// Everything about one row that does not change along it. `soon`: arrays to `fetch` from.
template <class Shape>
class RowWork {
 public:
  RowWork(const Shape& shape, const GridLayout& layout, double alpha, double beta)
      : shape_(shape),
        row_(layout.row_stride()),
        plane_(layout.plane_stride()),
        alpha_(alpha),
        beta_(beta) {}

  [[gnu::always_inline]] void direction(const double* r, double* p, std::ptrdiff_t count,
                                        const double* soon) const {
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Elements>(i, soon);
      elements<Elements>(p + i).value =
          elements<Elements>(r + i).value + beta_ * elements<Elements>(p + i).value;
    });
  }

  [[gnu::always_inline]] void update(const double* p, double* x, double* r, std::ptrdiff_t count,
                                     CloseSum& r_dot_r, const double* soon) const {
    CloseSum local = r_dot_r;  // in registers
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Elements>(i, soon);
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

  /// x is the sum of steps along p, so that it takes the old p while it is there.
  [[gnu::always_inline]] void solution_and_direction(const double* r, double* p, double* x,
                                                     std::ptrdiff_t count) const {
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      const auto old = elements<Elements>(p + i).value;
      elements<Elements>(x + i).value += alpha_ * old;
      elements<Elements>(p + i).value = elements<Elements>(r + i).value + beta_ * old;
    });
  }

  [[gnu::always_inline]] void residual(const double* p, double* r, std::ptrdiff_t count,
                                       CloseSum& r_dot_r) const {
    CloseSum local = r_dot_r;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Elements>(i, p + plane_ + fetch_lead, r + fetch_lead);
      decltype(Elements::value) product;
      shape_.template at<Elements>(p + i, row_, plane_, product);
      const auto value = elements<Elements>(r + i).value - alpha_ * product;
      elements<Elements>(r + i).value = value;
      local.add(value * value);
    });
    local.carry();
    r_dot_r = local;
  }

  template <class... Arrays>
  [[gnu::always_inline]] void curvature(const double* r, std::ptrdiff_t count, CloseSum& r_dot_ar,
                                        const Arrays*... soon) const {
    CloseSum local = r_dot_ar;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Elements>(i, soon...);
      decltype(Elements::value) product;
      shape_.template at<Elements>(r + i, row_, plane_, product);
      local.add(elements<Elements>(r + i).value * product);
    });
    local.carry();
    r_dot_ar = local;
  }

 private:
  const Shape shape_;
  std::ptrdiff_t row_;
  std::ptrdiff_t plane_;
  double alpha_;
  double beta_;
};

/// Row by row, so that what one stage leaves in the first-level cache serves the next.
template <class Shape>
[[gnu::always_inline]] inline void advance_strip(const RowWork<Shape>& work,
                                                 const GridLayout& layout, const StencilStep& step,
                                                 const GridBox& strip, bool is_last,
                                                 CloseSum& r_dot_r, CloseSum& r_dot_ar,
                                                 const std::function<void()>& pause) {
  double* const r = step.r;
  double* const p = step.p;
  const GlobalIndex end = strip.end[1] + (is_last ? 2 : 0);
  const RowsAhead ahead(layout, strip.size(0), strip.begin[1], end);
  for (GlobalIndex z = strip.begin[2]; z < strip.end[2] + 2; ++z) {
    for (GlobalIndex y = strip.begin[1]; y < end; ++y) {
      const std::ptrdiff_t next =
          static_cast<std::ptrdiff_t>(layout.index(strip.begin[0], y, z)) + ahead.from(y);
      const double* const next_x = step.x + next - layout.plane_stride() - layout.row_stride();
      if (has_row(step.direction, y, z)) {
        const std::size_t i = layout.index(step.direction.begin[0], y, z);
        work.direction(r + i, p + i, step.direction.size(0), next_x);
      }
      if (has_row(step.update, y - 1, z - 1)) {
        const std::size_t i = layout.index(step.update.begin[0], y - 1, z - 1);
        work.update(p + i, step.x + i, r + i, step.update.size(0), r_dot_r, p + next);
      }
      if (has_row(step.curvature, y - 2, z - 2)) {
        const std::size_t i = layout.index(step.curvature.begin[0], y - 2, z - 2);
        work.curvature(r + i, step.curvature.size(0), r_dot_ar, r + next);
      }
    }
    if (pause) pause();
  }
}

}  // namespace

void advance_in_one_pass(const GridStencil& stencil, const GridLayout& layout,
                         const StencilStep& step, CloseSum& r_dot_r, CloseSum& r_dot_ar,
                         const std::function<void()>& pause) {
  if (step.update.is_empty()) return;
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    const RowWork work(shape, layout, step.alpha, step.beta);
    // Of r four planes, of p three, of x one are in use at a time; the oldest need not stay.
    for (const GridBox& strip : strips(step.update, layout, 6))
      advance_strip(work, layout, step, strip, strip.end[1] == step.update.end[1], r_dot_r,
                    r_dot_ar, pause);
  });
}

void renew_direction_in_one_pass(const GridStencil& stencil, const GridLayout& layout,
                                 const DirectionStep& step, CloseSum& p_dot_ap,
                                 const std::function<void()>& pause) {
  const GridBox both = hull(step.direction, step.curvature);
  if (both.is_empty()) return;
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    const RowWork work(shape, layout, step.alpha, step.beta);
    // Of p three planes, of r and x one are in use at a time.
    for (const GridBox& strip : strips(both, layout, 5)) {
      const GlobalIndex end = strip.end[1] + (strip.end[1] == both.end[1] ? 1 : 0);
      const RowsAhead ahead(layout, strip.size(0), strip.begin[1], end);
      for (GlobalIndex z = strip.begin[2]; z < strip.end[2] + 1; ++z) {
        for (GlobalIndex y = strip.begin[1]; y < end; ++y) {
          if (has_row(step.direction, y, z)) {
            const std::size_t i = layout.index(step.direction.begin[0], y, z);
            work.solution_and_direction(step.r + i, step.p + i, step.x + i, step.direction.size(0));
          }
          const std::ptrdiff_t next =
              static_cast<std::ptrdiff_t>(layout.index(both.begin[0], y, z)) + ahead.from(y);
          if (has_row(step.curvature, y - 1, z - 1))
            work.curvature(step.p + layout.index(step.curvature.begin[0], y - 1, z - 1),
                           step.curvature.size(0), p_dot_ap, step.p + next, step.r + next,
                           step.x + next);
        }
        if (pause) pause();
      }
    }
  });
}

void update_residual(const GridStencil& stencil, const GridLayout& layout, double alpha,
                     const double* p, double* r, const GridBox& box, CloseSum& r_dot_r) {
  if (box.is_empty()) return;
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    const RowWork work(shape, layout, alpha, 0);
    for (const GridBox& strip : strips(box, layout, 4))
      for_each_row(layout, strip, [&](std::size_t i) __attribute__((always_inline)) {
        work.residual(p + i, r + i, strip.size(0), r_dot_r);
      });
  });
}

void update_solution(const GridLayout& layout, double alpha, const double* p, double* x,
                     const GridBox& box) {
  if (box.is_empty()) return;
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    for_each_row(layout, box, [&](std::size_t first) __attribute__((always_inline)) {
      for_lanes(box.size(0), [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
        elements<Elements>(x + first + i).value += alpha * elements<Elements>(p + first + i).value;
      });
    });
  });
}

void renew_direction(const GridLayout& layout, double beta, const double* r, double* p,
                     const GridBox& box) {
  if (box.is_empty()) return;
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    for_each_row(layout, box, [&](std::size_t first) __attribute__((always_inline)) {
      for_lanes(box.size(0), [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
        elements<Elements>(p + first + i).value = elements<Elements>(r + first + i).value +
                                                  beta * elements<Elements>(p + first + i).value;
      });
    });
  });
}

void add_curvature(const GridStencil& stencil, const GridLayout& layout, const double* r,
                   const GridBox& box, CloseSum& r_dot_ar) {
  if (box.is_empty()) return;
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    const RowWork work(shape, layout, 0, 0);
    for (const GridBox& strip : strips(box, layout, 3))
      for_each_row(layout, strip, [&](std::size_t i) __attribute__((always_inline)) {
        work.curvature(r + i, strip.size(0), r_dot_ar);
      });
  });
}

}  // namespace weft::spmv
