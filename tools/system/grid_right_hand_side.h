#pragma once

#include "perfmodel/huge_page_buffer.h"
#include "spmv/grid/grid_operator.h"
#include "spmv/problems/problem.h"
#include "spmv/problems/right_hand_side.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// b of a grid problem without a matrix, in the layout of the operator. Collective. Throws
/// comm_thread::InputError for a file.
perfmodel::HugePageBuffer<double> collective_build_grid_right_hand_side(
    Job& job, spmv::GridOperator& op, const spmv::Problem& problem,
    const spmv::RightHandSide& right_hand_side);

}  // namespace weft::tools
