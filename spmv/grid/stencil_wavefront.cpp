#include "spmv/grid/stencil_wavefront.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "perfmodel/fetch.h"
#include "spmv/grid/rows_ahead.h"
#include "spmv/grid/stencil_kernel.h"
#include "spmv/grid/strips.h"

namespace weft::spmv {
namespace {

using perfmodel::fetch;

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

/// Eight numbers, or one, as double.
template <class Value>
[[gnu::always_inline]] inline Value load_wide(const double* from) {
  return load<Value>(from);
}
template <class Value>
[[gnu::always_inline]] inline Value load_wide(const float* from) {
  if constexpr (std::is_same_v<Value, double>)
    return static_cast<double>(*from);
  else
    return Value::load_converted(from);
}
template <class Value>
[[gnu::always_inline]] inline void store_narrow(double* to, const Value& value) {
  store(to, value);
}
template <class Value>
[[gnu::always_inline]] inline void store_narrow(float* to, const Value& value) {
  if constexpr (std::is_same_v<Value, double>)
    *to = static_cast<float>(value);
  else
    value.store_converted(to);
}

/// A DirectionStart whose form is known, from an element on.
struct PlainStart {
  const double* values;
  PlainStart from(std::size_t first) const { return {values + first}; }
  template <class Value>
  [[gnu::always_inline]] Value at(std::ptrdiff_t i) const {
    return load<Value>(values + i);
  }
};
template <class Number>
struct ScaledStart {
  const Number* values;
  double factor;
  ScaledStart from(std::size_t first) const { return {values + first, factor}; }
  template <class Value>
  [[gnu::always_inline]] Value at(std::ptrdiff_t i) const {
    return factor * load_wide<Value>(values + i);
  }
};
template <class Use>
void with_start(const DirectionStart& z, const Use& use) {
  if (z.r) return use(PlainStart{z.r});
  if (z.single) return use(ScaledStart<float>{z.single, z.factor});
  use(ScaledStart<double>{z.scaled, z.factor});
}

/// Stands for no copy of a residual.
struct NoCopy {
  NoCopy row(GlobalIndex, GlobalIndex, GlobalIndex) const { return {}; }
  template <class Value>
  [[gnu::always_inline]] void take(std::ptrdiff_t, const Value&) const {}
};
template <class Number>
struct CopyOfRow {
  Number* values;
  double factor;
  template <class Value>
  [[gnu::always_inline]] void take(std::ptrdiff_t i, const Value& value) const {
    store_narrow(values + i, Value(factor * value));
  }
};
template <class Number>
struct CopyOfRows {
  const ScaledCopy<Number>& copy;
  CopyOfRow<Number> row(GlobalIndex x, GlobalIndex y, GlobalIndex z) const {
    return {copy.values + copy.layout.index(x, y, z), copy.factor};
  }
};

/// Everything about one row that does not change along it. `soon`: where to `fetch` from, in
/// elements from the place in an array that is worked on.
template <class Simd, class Shape>
class RowWork {
 public:
  using Sum = CloseSum::In<Simd>;

  RowWork(const Shape& shape, const GridLayout& layout, double alpha, double beta)
      : shape_(shape),
        row_(layout.row_stride()),
        plane_(layout.plane_stride()),
        alpha_(alpha),
        beta_(beta) {}

  /// p = r + beta·p.
  [[gnu::always_inline]] void direction(const double* r, double* p, std::ptrdiff_t count) const {
    for_lanes<Simd>(count, [&]<class Value>(std::ptrdiff_t i)
                               __attribute__((always_inline)) { renew<Value>(r + i, p + i); });
  }

  /// x += alpha·p, r -= alpha·(A·p); adds r·r. The direction is at `ahead` elements from here.
  [[gnu::always_inline]] void update(const double* p, double* x, double* r, std::ptrdiff_t ahead,
                                     std::ptrdiff_t soon, std::ptrdiff_t count,
                                     Sum& r_dot_r) const {
    const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Value>(i, r + ahead + soon, p + ahead + soon, x + soon);
      store(x + i, load<Value>(x + i) + alpha_ * load<Value>(p + i));
      const Value value = reduce<Value>(p + i, r + i);
      r_dot_r.add(value * value);
    };
    for_lanes_of_sums<Simd>(count, step, r_dot_r);
  }

  /// Adds u·(A·u).
  template <class... Arrays>
  [[gnu::always_inline]] void curvature(const double* u, std::ptrdiff_t count, Sum& u_dot_au,
                                        const Arrays*... soon) const {
    const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Value>(i, soon...);
      const Value product = shape_.template at<Value>(u + i, row_, plane_);
      u_dot_au.add(load<Value>(u + i) * product);
    };
    for_lanes_of_sums<Simd>(count, step, u_dot_au);
  }

  /// Adds u·(A·u) by halves.
  [[gnu::always_inline]] void half_curvature(const double* u, std::ptrdiff_t count,
                                             Sum& u_dot_au) const {
    const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      const auto value = load<Value>(u + i);
      const auto before = load<Value>(u + i - 1);
      const Value half = shape_.template half_at<Value>(u + i, row_, plane_, value, before);
      u_dot_au.add(value * half);
    };
    for_lanes_of_sums<Simd>(count, step, u_dot_au);
  }

  /// All three at once; the direction at `ahead` elements from the others.
  [[gnu::always_inline]] void step(double* r, double* p, double* x, std::ptrdiff_t ahead,
                                   std::ptrdiff_t soon, std::ptrdiff_t count, Sum& r_dot_r,
                                   Sum& r_dot_ar) const {
    perfmodel::ElementBefore<typename Simd::Lane8> last(r[-1]);
    const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Value>(i, r + ahead + soon, p + ahead + soon, x + soon);
      renew<Value>(r + ahead + i, p + ahead + i);
      store(x + i, load<Value>(x + i) + alpha_ * load<Value>(p + i));
      const Value value = reduce<Value>(p + i, r + i);
      r_dot_r.add(value * value);
      const Value before = last.step(value);
      const Value half = shape_.template half_at<Value>(r + i, row_, plane_, value, before);
      r_dot_ar.add(value * half);
    };
    for_lanes_of_sums<Simd>(count, step, r_dot_r, r_dot_ar);
  }

  /// x += alpha·p, p = z + beta·p: x is the sum of steps along p, so that it takes the old p while
  /// it is there.
  template <class Start>
  [[gnu::always_inline]] void solution_and_direction(const Start& z, double* p, double* x,
                                                     std::ptrdiff_t count) const {
    for_lanes<Simd>(count, [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      store(x + i, load<Value>(x + i) + alpha_ * load<Value>(p + i));
      store(p + i, z.template at<Value>(i) + beta_ * load<Value>(p + i));
    });
  }

  /// r -= alpha·(A·p); adds r·r.
  template <class Copy>
  [[gnu::always_inline]] void residual(const double* p, double* r, std::ptrdiff_t soon,
                                       std::ptrdiff_t count, Sum& r_dot_r, const Copy& copy) const {
    const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Value>(i, p + plane_ + soon, r + soon);
      const Value value = reduce<Value>(p + i, r + i);
      copy.template take<Value>(i, value);
      r_dot_r.add(value * value);
    };
    for_lanes_of_sums<Simd>(count, step, r_dot_r);
  }

 private:
  template <class Value>
  [[gnu::always_inline]] void renew(const double* r, double* p) const {
    store(p, load<Value>(r) + beta_ * load<Value>(p));
  }

  /// Returns the new r.
  template <class Value>
  [[gnu::always_inline]] Value reduce(const double* p, double* r) const {
    const Value product = shape_.template at<Value>(p, row_, plane_);
    const Value value = load<Value>(r) - alpha_ * product;
    store(r, value);
    return value;
  }

  const Shape shape_;
  std::ptrdiff_t row_;
  std::ptrdiff_t plane_;
  double alpha_;
  double beta_;
};

/// Row by row, so that what one stage leaves in the first-level cache serves the next; where the
/// curvature need not be behind the update, all stages at once along a row.
template <class Simd, class Shape>
[[gnu::always_inline]] inline void advance_strip(const RowWork<Simd, Shape>& work,
                                                 const GridLayout& layout, const StencilStep& step,
                                                 const GridBox& strip, bool is_last,
                                                 CloseSum::In<Simd>& r_dot_r,
                                                 CloseSum::In<Simd>& r_dot_ar,
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

/// The first of two passes, in strips. `z`: PlainStart or ScaledStart.
template <class Simd, class Shape, class Start>
[[gnu::always_inline]] inline void renew_in_strips(const RowWork<Simd, Shape>& work,
                                                   const GridLayout& layout,
                                                   const DirectionStep& step, const Start& z,
                                                   CloseSum::In<Simd>& p_dot_ap,
                                                   const std::function<void()>& pause) {
  const GridBox both = hull(step.direction, step.curvature);
  // Of p three planes, of z and x one are in use at a time.
  for (const GridBox& strip : strips(both, layout, 5)) {
    const GlobalIndex end = strip.end[1] + (strip.end[1] == both.end[1] ? 1 : 0);
    const RowsAhead ahead(layout, strip.size(0), strip.begin[1], end);
    for (GlobalIndex plane = strip.begin[2]; plane < strip.end[2] + 1; ++plane) {
      for (GlobalIndex y = strip.begin[1]; y < end; ++y) {
        if (const RowRange renewed = row_of(step.direction, y, plane); !renewed.is_empty()) {
          const std::size_t i = layout.index(renewed.begin, y, plane);
          work.solution_and_direction(z.from(i), step.p + i, step.x + i, renewed.size());
        }
        const std::ptrdiff_t next =
            static_cast<std::ptrdiff_t>(layout.index(both.begin[0], y, plane)) + ahead.from(y);
        if (const RowRange summed = row_of(step.curvature, y - 1, plane - 1); !summed.is_empty())
          work.curvature(step.p + layout.index(summed.begin, y - 1, plane - 1), summed.size(),
                         p_dot_ap, step.p + next, z.values + next, step.x + next);
      }
      if (pause) pause();
    }
  }
}

/// The second of two passes. `copies`: NoCopy or CopyOfRows.
template <class Copies>
void update_residual_with(const GridStencil& stencil, const GridLayout& layout, double alpha,
                          const double* p, double* r, const GridBox& box, CloseSum& r_dot_r,
                          const Copies& copies) {
  if (box.is_empty()) return;
  with_shape(stencil, [&]<class Simd>(const auto& shape) __attribute__((always_inline)) {
    CloseSum::In<Simd> r_dot_r_(r_dot_r);
    const RowWork<Simd, std::decay_t<decltype(shape)>> work(shape, layout, alpha, 0);
    for (const GridBox& strip : strips(box, layout, 4)) {
      const RowsAhead ahead(layout, strip.size(0), strip.begin[1], strip.end[1]);
      for (GlobalIndex z = strip.begin[2]; z < strip.end[2]; ++z)
        for (GlobalIndex y = strip.begin[1]; y < strip.end[1]; ++y) {
          const std::size_t i = layout.index(strip.begin[0], y, z);
          work.residual(p + i, r + i, ahead.from(y), strip.size(0), r_dot_r_,
                        copies.row(strip.begin[0], y, z));
        }
    }
    r_dot_r_.store(r_dot_r);
  });
}

}  // namespace

void advance_in_one_pass(const GridStencil& stencil, const GridLayout& layout,
                         const StencilStep& step, CloseSum& r_dot_r, CloseSum& r_dot_ar,
                         const std::function<void()>& pause) {
  if (step.update.is_empty()) return;
  with_shape(stencil, [&]<class Simd>(const auto& shape) __attribute__((always_inline)) {
    CloseSum::In<Simd> r_dot_r_(r_dot_r);
    CloseSum::In<Simd> r_dot_ar_(r_dot_ar);
    const RowWork<Simd, std::decay_t<decltype(shape)>> work(shape, layout, step.alpha, step.beta);
    // Of r and p three planes, of x one are in use at a time; the oldest need not stay.
    for (const GridBox& strip : strips(step.update, layout, 6))
      advance_strip(work, layout, step, strip, strip.end[1] == step.update.end[1], r_dot_r_,
                    r_dot_ar_, pause);
    r_dot_r_.store(r_dot_r);
    r_dot_ar_.store(r_dot_ar);
  });
}

void renew_direction_in_one_pass(const GridStencil& stencil, const GridLayout& layout,
                                 const DirectionStep& step, CloseSum& p_dot_ap,
                                 const std::function<void()>& pause) {
  if (hull(step.direction, step.curvature).is_empty()) return;
  with_start(step.z, [&](const auto& z) {
    with_shape(stencil, [&]<class Simd>(const auto& shape) __attribute__((always_inline)) {
      CloseSum::In<Simd> p_dot_ap_(p_dot_ap);
      const RowWork<Simd, std::decay_t<decltype(shape)>> work(shape, layout, step.alpha, step.beta);
      renew_in_strips(work, layout, step, z, p_dot_ap_, pause);
      p_dot_ap_.store(p_dot_ap);
    });
  });
}

void update_residual(const GridStencil& stencil, const GridLayout& layout, double alpha,
                     const double* p, double* r, const GridBox& box, CloseSum& r_dot_r) {
  update_residual_with(stencil, layout, alpha, p, r, box, r_dot_r, NoCopy{});
}

template <class Number>
void update_residual(const GridStencil& stencil, const GridLayout& layout, double alpha,
                     const double* p, double* r, const GridBox& box, CloseSum& r_dot_r,
                     const ScaledCopy<Number>& copy) {
  update_residual_with(stencil, layout, alpha, p, r, box, r_dot_r, CopyOfRows<Number>{copy});
}
template void update_residual(const GridStencil&, const GridLayout&, double, const double*, double*,
                              const GridBox&, CloseSum&, const ScaledCopy<float>&);
template void update_residual(const GridStencil&, const GridLayout&, double, const double*, double*,
                              const GridBox&, CloseSum&, const ScaledCopy<double>&);

void update_solution(const GridLayout& layout, double alpha, const double* p, double* x,
                     const GridBox& box) {
  if (box.is_empty()) return;
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    for_each_row(layout, box, [&](std::size_t first) __attribute__((always_inline)) {
      for_lanes<Simd>(
          box.size(0), [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
            store(x + first + i, load<Value>(x + first + i) + alpha * load<Value>(p + first + i));
          });
    });
  });
}

void renew_direction(const GridLayout& layout, double beta, const DirectionStart& z, double* p,
                     const GridBox& box) {
  if (box.is_empty()) return;
  with_start(z, [&](const auto& start) {
    perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
      for_each_row(layout, box, [&](std::size_t first) __attribute__((always_inline)) {
        const auto row = start.from(first);
        for_lanes<Simd>(
            box.size(0), [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
              store(p + first + i, row.template at<Value>(i) + beta * load<Value>(p + first + i));
            });
      });
    });
  });
}

void add_curvature(const GridStencil& stencil, const GridLayout& layout, const double* u,
                   const GridBox& box, CloseSum& u_dot_au) {
  if (box.is_empty()) return;
  with_shape(stencil, [&]<class Simd>(const auto& shape) __attribute__((always_inline)) {
    CloseSum::In<Simd> u_dot_au_(u_dot_au);
    const RowWork<Simd, std::decay_t<decltype(shape)>> work(shape, layout, 0, 0);
    for (const GridBox& strip : strips(box, layout, 3))
      for_each_row(layout, strip, [&](std::size_t i) __attribute__((always_inline)) {
        work.curvature(u + i, strip.size(0), u_dot_au_);
      });
    u_dot_au_.store(u_dot_au);
  });
}

void add_half_curvature(const GridStencil& stencil, const GridLayout& layout, const double* u,
                        const GridBox& box, CloseSum& u_dot_au) {
  if (box.is_empty()) return;
  with_shape(stencil, [&]<class Simd>(const auto& shape) __attribute__((always_inline)) {
    CloseSum::In<Simd> u_dot_au_(u_dot_au);
    const RowWork<Simd, std::decay_t<decltype(shape)>> work(shape, layout, 0, 0);
    for (const GridBox& strip : strips(box, layout, 2))
      for_each_row(layout, strip, [&](std::size_t i) __attribute__((always_inline)) {
        work.half_curvature(u + i, strip.size(0), u_dot_au_);
      });
    u_dot_au_.store(u_dot_au);
  });
}

}  // namespace weft::spmv
