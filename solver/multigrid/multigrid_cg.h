#pragma once

#include <memory>

#include "solver/krylov/method.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::solver {

/// Conjugate gradients with a cycle of multigrid, both on the grid of an operator without a matrix,
/// in passes that do the work of both; bytes a row besides the cycle, with its values in single
/// precision:
///
///     x += α p, p = z + β p, p·A·p        reads x, p, z, writes x, p          36
///     r -= α A·p, r·r, f = r in single    reads r, p, writes r, f             32
///     cycle, whose last pass ends with
///     z in single precision, r·z          reads r, writes z                   16
///
/// 84 in all, against 136 where the cycle is a step of its own that takes r and gives z in double
/// precision (ConjugateGradient). z is a single-precision number times a power of two, so that it
/// loses nothing. The iterations and the bits are those of ConjugateGradient.
///
/// Null where that has to do it: the preconditioner is no MultigridPreconditioner of this
/// operator's vectors, or there are checkpoints, which take z in double precision. Collective.
/// Thread: the main thread, outside the team. Lifetime: `op` and the preconditioner outlive it.
std::unique_ptr<KrylovMethod> collective_make_multigrid_cg(spmv::StencilOperator& op,
                                                           const KrylovMethod::Options& options);

/// What it needs, before there is one. `use`: with the precision of the cycle.
MethodNeeds multigrid_cg_needs(const MethodUse& use);

}  // namespace weft::solver
