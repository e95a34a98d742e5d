#pragma once

#include "solver/multigrid/multigrid_preconditioner.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// An interval that holds, or nearly, all eigenvalues of M·A.
struct SpectrumBounds {
  double least;
  double most;
};

/// Bounds of the eigenvalues of M·A for a cycle M: those known where couplings are the same at all
/// points, else those that Lanczos' iteration finds in 12 steps from a random vector, moved apart
/// by a tenth below and a twentieth above. The same on any ranks, threads and modes. Memory: five
/// vectors while it runs. Collective. Thread: the main thread, outside the team. Source: Golub and
/// Van Loan, Matrix Computations, section 10.2 (conjugate gradients and Lanczos).
SpectrumBounds collective_spectrum_bounds(spmv::LinearOperator& op, spmv::Mode mode,
                                          MultigridPreconditioner& m);

}  // namespace weft::solver
