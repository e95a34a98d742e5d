#pragma once

#include <functional>

#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/stencil.h"
#include "spmv/sums/binned_sum.h"

namespace weft::spmv {

/// One step of conjugate gradients in one pass through memory, with A applied twice and never
/// stored:
///
///     p = r + beta·p          at the points of `direction`
///     x += alpha·p
///     r -= alpha·A·p          at those of `update`; adds r·r
///     r·(A·r) by halves       at those of `curvature`
///
/// By halves: A is symmetric, so that each pair of neighbours is counted once, twice, at the one
/// that comes later (`half_at`); over all points of the grid that is r·(A·r). Its inputs are
/// already updated, so all four go through memory eight points at a time, the last three one plane
/// and one row behind the first, in strips along y that stay in cache:
///
///     z →   direction at z, update and curvature at z-1      so that A finds its neighbours
///
/// With 27 points the curvature is one more row behind, and stages follow each other row by row.
/// Reads and writes x, r, p once: 48 bytes a point against 88 of the textbook in three passes; 20
/// flops and those of the sums. Measured: docs/notes/conjugate-gradients.md.
/// All boxes are parts of the own points of `layout`, `direction` and `curvature` of `update`; p
/// beside `update`, and r before `curvature`, must hold current values. Calls `pause`, if there is
/// one, at intervals. Shape: r, p, x: arrays of `layout`.
struct StencilStep {
  double alpha;
  double beta;
  double* r;
  double* p;
  double* x;
  GridBox direction;
  GridBox update;
  GridBox curvature;
};
void advance_in_one_pass(const GridStencil& stencil, const GridLayout& layout,
                         const StencilStep& step, CloseSum& r_dot_r, CloseSum& r_dot_ar,
                         const std::function<void()>& pause);

/// What a new direction begins with: a residual, or what a preconditioner makes of one.
/// Shape: an array of the layout of p.
struct DirectionStart {
  const double* r = nullptr;  // or, where it is null,
  const float* single = nullptr;  // factor·single, or, where that is null, too,
  const double* scaled = nullptr;  // factor·scaled
  double factor = 1;
};

/// The first of two passes of textbook CG, without A·p:
///
///     x += alpha·p, p = z + beta·p     at the points of `direction`
///     p·(A·p)                          at those of `curvature`, one plane and one row behind
///
/// Reads and writes x, p, reads z: 40 bytes a point, 36 where z is in single precision. `pause`,
/// boxes and arrays as above; p beside `curvature` and outside of `direction` is there.
struct DirectionStep {
  double alpha;
  double beta;
  DirectionStart z;
  double* p;
  double* x;
  GridBox direction;
  GridBox curvature;
};
void renew_direction_in_one_pass(const GridStencil& stencil, const GridLayout& layout,
                                 const DirectionStep& step, CloseSum& p_dot_ap,
                                 const std::function<void()>& pause);

/// The second: r -= alpha·(A·p) at the points of `box`, A·p computed again; adds r·r.
/// Reads p, reads and writes r: 24 bytes a point.
void update_residual(const GridStencil& stencil, const GridLayout& layout, double alpha,
                     const double* p, double* r, const GridBox& box, CloseSum& r_dot_r);

/// An array that gets factor·r besides.
template <class Number>
struct ScaledCopy {
  const GridLayout& layout;
  Number* values;
  double factor;
};
/// The same with a copy of the new r, in 28 bytes a point for one of float, 32 with write-allocate.
template <class Number>
void update_residual(const GridStencil& stencil, const GridLayout& layout, double alpha,
                     const double* p, double* r, const GridBox& box, CloseSum& r_dot_r,
                     const ScaledCopy<Number>& copy);

/// x += alpha·p at the points of `box`.
void update_solution(const GridLayout& layout, double alpha, const double* p, double* x,
                     const GridBox& box);

/// p = z + beta·p at the points of `box`, which may be ghosts.
void renew_direction(const GridLayout& layout, double beta, const DirectionStart& z, double* p,
                     const GridBox& box);

/// Adds u·(A·u) at the points of `box`.
void add_curvature(const GridStencil& stencil, const GridLayout& layout, const double* u,
                   const GridBox& box, CloseSum& u_dot_au);

/// The same by halves.
void add_half_curvature(const GridStencil& stencil, const GridLayout& layout, const double* u,
                        const GridBox& box, CloseSum& u_dot_au);

}  // namespace weft::spmv
