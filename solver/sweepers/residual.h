#pragma once

#include <span>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/sweep/sweeper.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// The rows that a part of a sweep makes.
spmv::RowSet rows_of(SweepPart part);

/// r = b − A·x on this thread's rows of a part; r·r of every row block that this completes is added
/// to `residual_square`, if given; of W·r where there are `weights`. Shape: x: [row_count +
/// halo_count]; b, r, weights: [row_count]; weights may be empty.
void form_residual(const spmv::SparseOperator& op, std::span<const double> b, const double* x,
                   double* r, const comm_thread::TeamThread& thread, SweepPart part,
                   comm_thread::ExactAccumulator* residual_square,
                   std::span<const double> weights = {});

}  // namespace weft::solver
