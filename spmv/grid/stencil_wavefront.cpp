#include "spmv/grid/stencil_wavefront.h"

#include <algorithm>
#include <limits>

#include "perfmodel/fetch.h"
#include "spmv/grid/stencil_kernel.h"
#include "spmv/grid/strips.h"

namespace weft::spmv {
namespace {

using perfmodel::fetch;
using perfmodel::fetch_lead;

/// Points [begin, end) of a row, in x.
struct RowRange {
  GlobalIndex begin = 0;
  GlobalIndex end = 0;

  bool is_empty() const { return begin >= end; }
  GlobalIndex size() const { return end - begin; }
};

[[gnu::always_inline]] inline RowRange intersection(const RowRange& a, const RowRange& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// Part of row y of plane z that is in `box`.
[[gnu::always_inline]] inline RowRange row_of(const GridBox& box, GlobalIndex y, GlobalIndex z) {
  const bool is_there = z >= box.begin[2] && z < box.end[2] && y >= box.begin[1] && y < box.end[1];
  return is_there ? RowRange{box.begin[0], box.end[0]} : RowRange{};
}

/// Calls one_by_one(range) for the parts before and after `together`, and together(range) for that;
/// in ascending order, because a sum needs the earlier elements.
template <class OneByOne, class Together>
[[gnu::always_inline]] inline void work_along_row(const RowRange& range, const OneByOne& one_by_one,
                                                  const Together& together) {
  constexpr auto far = std::numeric_limits<GlobalIndex>::max();
  if (range.is_empty()) return one_by_one(RowRange{-far, far});
  for (const RowRange& side : {RowRange{-far, range.begin}, RowRange{range.end, far}}) {
    one_by_one(side);
    if (side.end == range.begin) together(range);
  }
}

/// Calls work(first element) for every row of `box`.
template <class Work>
[[gnu::always_inline]] inline void for_each_row(const GridLayout& layout, const GridBox& box,
                                                const Work& work) {
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) work(layout.index(box.begin[0], y, z));
}

/// Distance in elements from row y to the row processed at least `fetch_lead`
/// elements later. Rows [begin, end) are processed in each plane.
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

/// Everything about one row that does not change along it. `soon`: where to `fetch` from, in
/// elements from the place in an array that is worked on.
template <class Shape>
class RowWork {
 public:
  RowWork(const Shape& shape, const GridLayout& layout, double alpha, double beta)
      : shape_(shape),
        row_(layout.row_stride()),
        plane_(layout.plane_stride()),
        alpha_(alpha),
        beta_(beta) {}

  /// p = r + beta·p.
  [[gnu::always_inline]] void direction(const double* r, double* p, std::ptrdiff_t count) const {
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i)
                         __attribute__((always_inline)) { renew<Elements>(r + i, p + i); });
  }

  /// x += alpha·p, r -= alpha·(A·p); adds r·r. The direction is at `ahead` elements from here.
  [[gnu::always_inline]] void update(const double* p, double* x, double* r, std::ptrdiff_t ahead,
                                     std::ptrdiff_t soon, std::ptrdiff_t count,
                                     CloseSum& r_dot_r) const {
    CloseSum local = r_dot_r;  // in registers
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Elements>(i, r + ahead + soon, p + ahead + soon, x + soon);
      elements<Elements>(x + i).value += alpha_ * elements<Elements>(p + i).value;
      decltype(Elements::value) value;
      reduce<Elements>(p + i, r + i, value);
      local.add(value * value);
    });
    local.carry();
    r_dot_r = local;
  }

  /// Adds u·(A·u).
  template <class... Arrays>
  [[gnu::always_inline]] void curvature(const double* u, std::ptrdiff_t count, CloseSum& u_dot_au,
                                        const Arrays*... soon) const {
    CloseSum local = u_dot_au;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Elements>(i, soon...);
      decltype(Elements::value) product;
      shape_.template at<Elements>(u + i, row_, plane_, product);
      local.add(elements<Elements>(u + i).value * product);
    });
    local.carry();
    u_dot_au = local;
  }

  /// Adds u·(A·u) by halves.
  [[gnu::always_inline]] void half_curvature(const double* u, std::ptrdiff_t count,
                                             CloseSum& u_dot_au) const {
    CloseSum local = u_dot_au;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      // Copies: a reference to part of a packed struct would be taken to be aligned.
      const auto value = elements<Elements>(u + i).value;
      const auto before = elements<Elements>(u + i - 1).value;
      decltype(Elements::value) half;
      shape_.template half_at<Elements>(u + i, row_, plane_, value, before, half);
      local.add(value * half);
    });
    local.carry();
    u_dot_au = local;
  }

  /// All three at once; the direction at `ahead` elements from the others.
  [[gnu::always_inline]] void step(double* r, double* p, double* x, std::ptrdiff_t ahead,
                                   std::ptrdiff_t soon, std::ptrdiff_t count, CloseSum& r_dot_r,
                                   CloseSum& r_dot_ar) const {
    CloseSum squares = r_dot_r;
    CloseSum halves = r_dot_ar;
    perfmodel::ElementBefore last(r[-1]);
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Elements>(i, r + ahead + soon, p + ahead + soon, x + soon);
      renew<Elements>(r + ahead + i, p + ahead + i);
      elements<Elements>(x + i).value += alpha_ * elements<Elements>(p + i).value;
      decltype(Elements::value) value, before, half;
      reduce<Elements>(p + i, r + i, value);
      squares.add(value * value);
      last.step(value, before);
      shape_.template half_at<Elements>(r + i, row_, plane_, value, before, half);
      halves.add(value * half);
    });
    squares.carry();
    halves.carry();
    r_dot_r = squares;
    r_dot_ar = halves;
  }

  /// x += alpha·p, p = r + beta·p: x is the sum of steps along p, so that it takes the old p while
  /// it is there.
  [[gnu::always_inline]] void solution_and_direction(const double* r, double* p, double* x,
                                                     std::ptrdiff_t count) const {
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      elements<Elements>(x + i).value += alpha_ * elements<Elements>(p + i).value;
      renew<Elements>(r + i, p + i);
    });
  }

  /// r -= alpha·(A·p); adds r·r.
  [[gnu::always_inline]] void residual(const double* p, double* r, std::ptrdiff_t count,
                                       CloseSum& r_dot_r) const {
    CloseSum local = r_dot_r;
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Elements>(i, p + plane_ + fetch_lead, r + fetch_lead);
      decltype(Elements::value) value;
      reduce<Elements>(p + i, r + i, value);
      local.add(value * value);
    });
    local.carry();
    r_dot_r = local;
  }

 private:
  template <class Elements>
  [[gnu::always_inline]] void renew(const double* r, double* p) const {
    elements<Elements>(p).value = elements<Elements>(r).value + beta_ * elements<Elements>(p).value;
  }

  /// `value`: the new r.
  template <class Elements>
  [[gnu::always_inline]] void reduce(const double* p, double* r,
                                     decltype(Elements::value)& value) const {
    decltype(Elements::value) product;
    shape_.template at<Elements>(p, row_, plane_, product);
    value = elements<Elements>(r).value - alpha_ * product;
    elements<Elements>(r).value = value;
  }

  const Shape shape_;
  std::ptrdiff_t row_;
  std::ptrdiff_t plane_;
  double alpha_;
  double beta_;
};

/// Row by row, so that what one stage leaves in the first-level cache serves the next; where the
/// curvature need not be behind the update, all stages at once along a row.
template <class Shape>
[[gnu::always_inline]] inline void advance_strip(const RowWork<Shape>& work,
                                                 const GridLayout& layout, const StencilStep& step,
                                                 const GridBox& strip, bool is_last,
                                                 CloseSum& r_dot_r, CloseSum& r_dot_ar,
                                                 const std::function<void()>& pause) {
  double* const r = step.r;
  double* const p = step.p;
  double* const x = step.x;
  constexpr GlobalIndex rows_behind = 1 + Shape::rows_behind;
  const std::ptrdiff_t ahead = layout.plane_stride() + layout.row_stride();
  const GlobalIndex end = strip.end[1] + (is_last ? rows_behind : 0);
  const RowsAhead rows_ahead(layout, strip.size(0), strip.begin[1], end);
  for (GlobalIndex z = strip.begin[2]; z < strip.end[2] + 1; ++z) {
    for (GlobalIndex y = strip.begin[1]; y < end; ++y) {
      const RowRange renewed = row_of(step.direction, y, z);
      const RowRange updated = row_of(step.update, y - 1, z - 1);
      const RowRange summed = row_of(step.curvature, y - rows_behind, z - 1);
      const RowRange together = Shape::rows_behind == 0
                                    ? intersection(intersection(renewed, updated), summed)
                                    : RowRange{};
      work_along_row(
          together,
          [&](const RowRange& range) __attribute__((always_inline)) {
            if (const RowRange mine = intersection(renewed, range); !mine.is_empty()) {
              const std::size_t i = layout.index(mine.begin, y, z);
              work.direction(r + i, p + i, mine.size());
            }
            if (const RowRange mine = intersection(updated, range); !mine.is_empty()) {
              const std::size_t i = layout.index(mine.begin, y - 1, z - 1);
              work.update(p + i, x + i, r + i, ahead, rows_ahead.from(y), mine.size(), r_dot_r);
            }
            if (const RowRange mine = intersection(summed, range); !mine.is_empty())
              work.half_curvature(r + layout.index(mine.begin, y - rows_behind, z - 1), mine.size(),
                                  r_dot_ar);
          },
          [&](const RowRange& mine) __attribute__((always_inline)) {
            const std::size_t i = layout.index(mine.begin, y - 1, z - 1);
            work.step(r + i, p + i, x + i, ahead, rows_ahead.from(y), mine.size(), r_dot_r,
                      r_dot_ar);
          });
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
    // Of r and p three planes, of x one are in use at a time; the oldest need not stay.
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
          if (const RowRange renewed = row_of(step.direction, y, z); !renewed.is_empty()) {
            const std::size_t i = layout.index(renewed.begin, y, z);
            work.solution_and_direction(step.r + i, step.p + i, step.x + i, renewed.size());
          }
          const std::ptrdiff_t next =
              static_cast<std::ptrdiff_t>(layout.index(both.begin[0], y, z)) + ahead.from(y);
          if (const RowRange summed = row_of(step.curvature, y - 1, z - 1); !summed.is_empty())
            work.curvature(step.p + layout.index(summed.begin, y - 1, z - 1), summed.size(),
                           p_dot_ap, step.p + next, step.r + next, step.x + next);
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

void add_curvature(const GridStencil& stencil, const GridLayout& layout, const double* u,
                   const GridBox& box, CloseSum& u_dot_au) {
  if (box.is_empty()) return;
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    const RowWork work(shape, layout, 0, 0);
    for (const GridBox& strip : strips(box, layout, 3))
      for_each_row(layout, strip, [&](std::size_t i) __attribute__((always_inline)) {
        work.curvature(u + i, strip.size(0), u_dot_au);
      });
  });
}

void add_half_curvature(const GridStencil& stencil, const GridLayout& layout, const double* u,
                        const GridBox& box, CloseSum& u_dot_au) {
  if (box.is_empty()) return;
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    const RowWork work(shape, layout, 0, 0);
    for (const GridBox& strip : strips(box, layout, 2))
      for_each_row(layout, strip, [&](std::size_t i) __attribute__((always_inline)) {
        work.half_curvature(u + i, strip.size(0), u_dot_au);
      });
  });
}

}  // namespace weft::spmv
