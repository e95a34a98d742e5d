#pragma once

#include <vector>

#include "solver/checkpoint/packed_rows.h"
#include "spmv/grid/grid_layout.h"

namespace weft::solver {

/// The rows of a rank's own points of a grid, for checkpoints: x varies fastest.
/// `domain`: all points, which begin at 0; `thread_count`: of the team.
PackedRows pack_grid(const spmv::GridLayout& layout, const spmv::GridBox& domain, int thread_count);

/// The same, before they are packed.
std::vector<std::vector<PackedRows::Piece>> pieces_of(const spmv::GridLayout& layout,
                                                      const spmv::GridBox& domain,
                                                      int thread_count);

}  // namespace weft::solver
