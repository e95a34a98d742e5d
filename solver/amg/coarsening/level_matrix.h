#pragma once

#include <span>
#include <vector>

#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// The matrix of a level while the hierarchy is set up: its rows in double precision, who needs
/// which of them, and which thread works on which.
/// Lifetime: refers to the matrix.
struct LevelMatrix {
  const spmv::DistributedMatrix& matrix;
  spmv::HaloPlan plan;
  std::vector<spmv::LocalIndex> thread_rows;  // [thread_count + 1]

  spmv::LocalIndex row_count() const { return matrix.rows.row_count; }
};

}  // namespace weft::solver::amg
