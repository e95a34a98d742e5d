#pragma once

#include "comm_thread/engine/crew.h"
#include "solver/amg/level_operator.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// An estimate of the largest eigenvalue of a symmetric matrix with ones on the diagonal, which
/// `off_diagonal` lacks: the largest Ritz value of ten steps of Lanczos, usually a few per cent
/// below it. The same on all ranks, whatever the ranks and threads: the start vector depends on
/// global rows, and dot products are reproducible sums.
/// `first_row`: the global number of this rank's first row; `seed`: of the start vector.
/// Collective. Thread: the main thread, outside the team.
/// Source: Golub and Van Loan, "Matrix Computations", section 10.1.
template <class Value>
double collective_estimate_largest(const comm_thread::Crew& crew,
                                   const LevelOperator<Value>& off_diagonal,
                                   spmv::GlobalIndex first_row, spmv::GlobalIndex global_row_count,
                                   std::uint64_t seed);

}  // namespace weft::solver::amg
