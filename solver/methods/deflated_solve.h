#pragma once

#include <optional>
#include <span>

#include "solver/krylov/method.h"
#include "solver/precondition/null_space.h"

namespace weft::solver {

/// Solves a singular system whose null space is known, with a method whose preconditioner is
/// deflated (DeflatedPreconditioner).
///
/// Of a symmetric matrix the null space is also what no A·x reaches: it is taken out of b first,
/// and the report counts it as residual. Where it is more than `stop` lets pass, the solve has
/// not converged, and x leaves the least residual. `is_symmetric`: of the matrix. Shape: b:
/// [element_count]. Collective. Thread: the main thread, outside the team. Throws
/// comm_thread::MpiError.
SolveReport collective_solve_deflated(KrylovMethod& method, NullSpace& null_space,
                                      bool is_symmetric, const StopCriterion& stop,
                                      std::span<const double> b, const Guess& guess = std::nullopt);

}  // namespace weft::solver
