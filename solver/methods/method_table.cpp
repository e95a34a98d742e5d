#include "solver/methods/method_table.h"

#include <algorithm>
#include <array>

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
#include "solver/multigrid/cycle_preconditioner.h"
#include "solver/multigrid/multigrid_method.h"
#include "solver/multigrid/preconditioned_semi_iteration.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::solver {
namespace {

using Made = std::unique_ptr<KrylovMethod>;
using Options = KrylovMethod::Options;
using spmv::LinearOperator;

template <class Method>
Made make(LinearOperator& op, const Options& options) {
  return std::make_unique<Method>(op, options);
}

Made make_textbook(LinearOperator& op, const Options& options) {
  auto* const grid = dynamic_cast<spmv::StencilOperator*>(&op);
  if (grid && !options.preconditioner) return std::make_unique<TwoPassCg>(*grid, options);
  return make<ConjugateGradient>(op, options);
}

Made make_flexible(LinearOperator& op, const Options& options) {
  return options.preconditioner ? make<FlexibleCg>(op, options) : make_textbook(op, options);
}

/// On a grid a diagonal preconditioner changes nothing, because the diagonal is constant.
Made make_one_reduction(LinearOperator& op, const Options& options) {
  auto* const grid = dynamic_cast<spmv::StencilOperator*>(&op);
  const bool is_plain = !options.preconditioner || options.preconditioner->as_diagonal();
  if (grid && is_plain) return std::make_unique<StencilCg>(*grid, options);
  return make<OneReductionCg>(op, options);
}

/// Without a preconditioner, of grids without a matrix; programs check that first.
Made make_multigrid(LinearOperator& op, const Options& options) {
  if (dynamic_cast<CyclePreconditioner*>(options.preconditioner))
    return std::make_unique<PreconditionedSemiIteration>(op, options);
  auto* const grid = dynamic_cast<spmv::StencilOperator*>(&op);
  if (!grid || options.preconditioner)
    throw comm_thread::InputError(
        comm_thread::option_name("method", "multigrid") +
        ": found an operator without a grid, or a null space; expected neither");
  return collective_make_multigrid_method(*grid, options);
}

constexpr KrylovEntry cg_variant(const char* name, const char* summary, int reductions,
                                 int products, bool hides_reduction,
                                 Made (*make_it)(LinearOperator&, const Options&)) {
  return {.name = name,
          .summary = summary,
          .reductions = reductions,
          .products = products,
          .needs_symmetric_matrix = true,
          .needs_symmetric_preconditioner = true,
          .hides_reduction = hides_reduction,
          .is_cg_variant = true,
          .has_restart = false,
          .vector_flops = 0,
          .needs_grid = false,
          .collective_make = make_it};
}

/// A method for matrices that are not symmetric.
constexpr KrylovEntry general(const char* name, const char* summary, int reductions, int products,
                              bool hides_reduction, bool has_restart, int vector_flops,
                              Made (*make_it)(LinearOperator&, const Options&)) {
  return {.name = name,
          .summary = summary,
          .reductions = reductions,
          .products = products,
          .needs_symmetric_matrix = false,
          .needs_symmetric_preconditioner = false,
          .hides_reduction = hides_reduction,
          .is_cg_variant = false,
          .has_restart = has_restart,
          .vector_flops = vector_flops,
          .needs_grid = false,
          .collective_make = make_it};
}

constexpr std::array table{
    cg_variant("cg", "textbook conjugate gradients", 2, 1, false, make_textbook),
    cg_variant("cg-one-reduction", "Chronopoulos-Gear; with a stencil in one pass through memory",
               1, 1, false, make_one_reduction),
    cg_variant("cg-pipelined", "Ghysels-Vanroose: the reduction travels beside the product", 1, 1,
               true, make<PipelinedCg>),
    cg_variant("cg-pipelined-pr", "Chen-Carson: pipelined, predicts and recomputes", 1, 2, true,
               make<PredictRecomputeCg>),
    KrylovEntry{"fcg", "flexible, for preconditioners that are not symmetric", 2, 1, true, false,
                false, false, false, 0, false, make_flexible},
    KrylovEntry{"minres", "for symmetric matrices that are indefinite or singular", 2, 1, true,
                true, false, false, false, 22, false, make<Minres>},
    general("gmres", "for any matrix and any preconditioner", 2, 1, false, true, 0, make<Gmres>),
    general("fgmres", "gmres that lets the preconditioner change in every iteration", 2, 1, false,
            true, 0, make<FlexibleGmres>),
    general("bicgstab", "for any matrix, with few vectors; may stagnate where gmres does not", 3, 2,
            false, false, 28, make<Bicgstab>),
    general("bicgstab-pipelined", "Cools-Vanroose: its reductions travel beside the products", 2, 2,
            true, false, 48, make<PipelinedBicgstab>),
    KrylovEntry{"multigrid", "cycles on the grids of a problem in a Chebyshev iteration", 1, 1,
                true, true, false, false, false, 0, true, make_multigrid},
};

}  // namespace

std::span<const KrylovEntry> krylov_methods() { return table; }

const KrylovEntry* find_krylov_method(std::string_view name) {
  const auto found = std::ranges::find(table, name, &KrylovEntry::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace weft::solver
