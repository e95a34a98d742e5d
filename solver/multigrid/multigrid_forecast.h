#pragma once

#include "spmv/problems/problem.h"

namespace weft::solver {

/// What multigrid is made for.
struct MultigridUse {
  bool is_method = false;  // or a preconditioner
  bool is_matrix_free = false;
  bool is_varying = false;  // points have couplings of their own, which on ranks are sent to boxes
  bool is_turned = false;  // without a matrix: the grid is turned so that lines are coupled most
};

/// Arrays of [element_count] that it has beside the method's and the couplings, measured.
double multigrid_arrays(const MultigridUse& use, int rank_count);

/// Bytes on a rank of multigrid for a matrix whose couplings vary on a grid, measured. `is_file`:
/// they may be so different that one direction is coarsened after the other.
double matrix_multigrid_bytes(const spmv::GridSize& grid, bool is_file, bool is_double, int rank,
                              int rank_count);

}  // namespace weft::solver
