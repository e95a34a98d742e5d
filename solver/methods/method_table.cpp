#include "solver/methods/method_table.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "solver/krylov/bicgstab.h"
#include "solver/krylov/conjugate_gradient.h"
#include "solver/krylov/flexible_cg.h"
#include "solver/krylov/flexible_gmres.h"
#include "solver/krylov/gmres.h"
#include "solver/krylov/grid/stencil_cg.h"
#include "solver/krylov/grid/two_pass_cg.h"
#include "solver/krylov/minres.h"
#include "solver/krylov/one_reduction_cg.h"
#include "solver/krylov/pipelined_bicgstab.h"
#include "solver/krylov/pipelined_cg.h"
#include "solver/krylov/predict_recompute_cg.h"
#include "solver/multigrid/multigrid_cg.h"
#include "solver/multigrid/multigrid_method.h"
#include "solver/multigrid/multigrid_preconditioner.h"
#include "solver/multigrid/preconditioned_semi_iteration.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::solver {
namespace {

using Made = std::unique_ptr<KrylovMethod>;
using Options = KrylovMethod::Options;
using spmv::LinearOperator;

/// What is made of an operator without a matrix, on a grid; else null.
spmv::StencilOperator* grid_of(LinearOperator& op) {
  return dynamic_cast<spmv::StencilOperator*>(&op);
}

/// Stands for a form on grids that a method does not have.
struct NoForm {
  static bool suits(const MethodUse&) { return false; }
  static MethodNeeds needs(const MethodUse&) { return {}; }
};

template <class Method>
MethodNeeds needs_of(const MethodUse& use) {
  if constexpr (requires { Method::needs(use); })
    return Method::needs(use);
  else
    return Method::facts.needs(use);
}

/// `OnGrid`: the form of the method for grids without a matrix, where it suits.
template <class Method, class OnGrid = NoForm>
constexpr KrylovEntry entry() {
  return {Method::facts,
          [](const MethodUse& use) {
            if (std::is_same_v<Method, ConjugateGradient> && use.shares_cycle)
              return multigrid_cg_needs(use);
            return use.is_grid && OnGrid::suits(use) ? needs_of<OnGrid>(use)
                                                     : needs_of<Method>(use);
          },
          [](LinearOperator& op, const Options& options) -> Made {
            if constexpr (!std::is_same_v<OnGrid, NoForm>) {
              auto* const grid = grid_of(op);
              if (grid && OnGrid::suits(KrylovMethod::use_of(op, options)))
                return std::make_unique<OnGrid>(*grid, options);
              if constexpr (std::is_same_v<Method, ConjugateGradient>)
                if (Made fused = grid ? collective_make_multigrid_cg(*grid, options) : nullptr)
                  return fused;
            }
            return std::make_unique<Method>(op, options);
          }};
}

/// Without a preconditioner, of grids without a matrix; programs check that first.
Made make_multigrid(LinearOperator& op, const Options& options) {
  if (dynamic_cast<MultigridPreconditioner*>(options.preconditioner))
    return std::make_unique<PreconditionedSemiIteration>(op, options);
  auto* const grid = grid_of(op);
  if (!grid || options.preconditioner)
    throw comm_thread::InputError(
        comm_thread::option_name("method", "multigrid") +
        ": found an operator without a grid, or a null space; expected neither");
  return collective_make_multigrid_method(*grid, options);
}

constexpr std::array table{
    entry<ConjugateGradient, TwoPassCg>(),
    entry<OneReductionCg, StencilCg>(),
    entry<PipelinedCg>(),
    entry<PredictRecomputeCg>(),
    entry<FlexibleCg, TwoPassCg>(),
    entry<Minres>(),
    entry<Gmres>(),
    entry<FlexibleGmres>(),
    entry<Bicgstab>(),
    entry<PipelinedBicgstab>(),
    KrylovEntry{MultigridMethod::facts, MultigridMethod::needs, make_multigrid},
};

}  // namespace

std::span<const KrylovEntry> krylov_methods() { return table; }

const KrylovEntry* find_krylov_method(std::string_view name) {
  if (name == "pcg-jacobi") return &table.front();
  const auto found = std::ranges::find(table, name, &KrylovEntry::name);
  return found == table.end() ? nullptr : &*found;
}

const KrylovEntry& multigrid_entry() { return table.back(); }

std::vector<std::string> names_of_methods(bool MethodFacts::* is_one) {
  std::vector<std::string> names;
  for (const KrylovEntry& entry : table)
    if (entry.*is_one) names.emplace_back(entry.name);
  return names;
}

}  // namespace weft::solver
