#pragma once

#include "solver/checkpoint/packed_rows.h"
#include "spmv/grid/layout.h"

namespace weft::solver {

/// The rows of a rank's own points of a grid, for checkpoints: x varies fastest.
/// `domain`: all points, which begin at 0; `thread_count`: of the team.
PackedRows pack_grid(const spmv::GridLayout& layout, const spmv::GridBox& domain, int thread_count);

}  // namespace weft::solver
