#pragma once

#include <cstddef>

#include "comm_thread/engine/exact_accumulator.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"

namespace weft::spmv {

/// to = average of the six neighbours in `from`, on the points of `box`: one Jacobi sweep for the
/// 7-point Laplacian, with the boundary values in the ghost points.
///
/// 24 bytes and 6 flops a point; ((x₋ + x₊) + (y₋ + y₊)) + (z₋ + z₊), times 1/6, in every variant,
/// so the bits do not depend on blocking, threads or ranks. Rows of `box` are walked in blocks of
/// y, so that three planes of a block stay in the second-level cache and each point is loaded once.
/// Stores past the caches (16 bytes a point instead of 24) were tried and were slower: 0.99 against
/// 1.12 GLUP/s at 400³ with two threads of a Xeon, where the compiler's loop makes 0.88.
/// Shape: from, to: [layout.element_count()], 64-byte aligned, not the same.
/// Thread: any number at once on boxes that do not overlap.
void sweep_average(const GridLayout& layout, const double* from, double* to, const GridBox& box);

/// The same for a few rows of one plane, without blocking: what time blocks are made of.
void sweep_average_rows(const GridLayout& layout, const double* from, double* to,
                        const GridBox& rows);

/// The same as `sweep_average`; adds the squares of the residual of `from` on the box,
/// (b − A·u)_i = sum of the neighbours − 6·u_i, to `residual_square`, in an order that does not
/// matter. `bound`: at least about the largest square (BinnedSum); the same on all ranks.
/// 6 + 16 flops a point.
void sweep_average_with_residual(const GridLayout& layout, const double* from, double* to,
                                 const GridBox& box, double bound,
                                 comm_thread::ExactAccumulator& residual_square);

/// The residual alone; stores nothing.
void add_average_residual(const GridLayout& layout, const double* from, const GridBox& box,
                          double bound, comm_thread::ExactAccumulator& residual_square);

}  // namespace weft::spmv
