#pragma once

#include <functional>

#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/stencil.h"
#include "spmv/modes/linear_operator.h"

namespace weft::spmv {

/// y = A·x at the points of `box`, which lies in the own points of `layout`; adds Σ x_i·y_i to
/// `x_dot_y`. Reads 8 bytes and writes 8 (16 with write-allocate) a point: the planes around it
/// come from cache. Calls `pause`, if there is one, after each plane of a strip that fits into
/// cache. Shape: x, y: arrays of `layout`.
void multiply_stencil(const GridStencil& stencil, const GridLayout& layout, const double* x,
                      double* y, const GridBox& box, RowSum x_dot_y,
                      const std::function<void()>& pause = {});

}  // namespace weft::spmv
