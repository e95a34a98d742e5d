#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "solver/krylov/method.h"
#include "solver/krylov/method_facts.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// One row of the table of Krylov methods: what its class says of itself, and how it is made. A new
/// method is a class and a line of the table.
struct KrylovEntry : MethodFacts {
  /// What the method needs in the form that this use takes.
  MethodNeeds (*needs)(const MethodUse& use);
  /// Collective. Thread: the main thread, outside the team. `op` outlives the method.
  std::unique_ptr<KrylovMethod> (*collective_make)(spmv::LinearOperator& op,
                                                   const KrylovMethod::Options& options);
};

/// All Krylov methods; the first is `cg`. Operators on grids get a form that applies A again
/// instead of storing products, where there is one (TwoPassCg, StencilCg).
std::span<const KrylovEntry> krylov_methods();

/// The entry of that name, or null. "pcg-jacobi" is another name of `cg`, for those who read the
/// options and give it the preconditioner.
const KrylovEntry* find_krylov_method(std::string_view name);

/// The method for grids alone.
const KrylovEntry& multigrid_entry();

/// The names of all methods of which `is_one` is true.
std::vector<std::string> names_of_methods(bool MethodFacts::* is_one);

}  // namespace weft::solver
