#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "solver/krylov/method.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// The variants of conjugate gradients, and GMRES.
enum class KrylovVariant { cg, one_reduction, pipelined, predict_recompute, flexible, gmres };

/// `cg`, `cg-one-reduction`, `cg-pipelined`, `cg-pipelined-pr`, `fcg`, `gmres`; nothing for another
/// name.
std::optional<KrylovVariant> parse_krylov_variant(std::string_view name);
const char* name(KrylovVariant variant);
/// Those that do the same in exact arithmetic: all but the flexible one and GMRES.
std::vector<KrylovVariant> all_krylov_variants();

/// A solver for `op`; where the operator offers it, one that applies A again instead of storing
/// products (TwoPassCg, StencilCg). `flexible` is for a preconditioner that is not symmetric
/// (`options.inverse`), without one it is `cg`; `gmres` is for any matrix and any preconditioner.
/// Collective. Thread: the main thread, outside the team. `op` outlives it. Throws
/// comm_thread::InputError where the preconditioner cannot be had.
std::unique_ptr<KrylovMethod> collective_make_krylov_method(KrylovVariant variant,
                                                            spmv::LinearOperator& op,
                                                            const KrylovMethod::Options& options);

}  // namespace weft::solver
