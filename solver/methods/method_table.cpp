#include "solver/methods/method_table.h"

#include <algorithm>
#include <array>

#include "solver/krylov/conjugate_gradient.h"
#include "solver/krylov/flexible_cg.h"
#include "solver/krylov/gmres.h"
#include "solver/krylov/grid/stencil_cg.h"
#include "solver/krylov/grid/two_pass_cg.h"
#include "solver/krylov/one_reduction_cg.h"
#include "solver/krylov/pipelined_cg.h"
#include "solver/krylov/predict_recompute_cg.h"
#include "solver/multigrid/multigrid_method.h"
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

/// Of grids without a matrix; programs check that first.
Made make_multigrid(LinearOperator& op, const Options& options) {
  return std::make_unique<MultigridMethod>(dynamic_cast<spmv::StencilOperator&>(op), options);
}

constexpr std::array table{
    KrylovEntry{"cg", "textbook conjugate gradients", 2, 1, true, true, false, true, false,
                make_textbook},
    KrylovEntry{"cg-one-reduction", "Chronopoulos-Gear; with a stencil in one pass through memory",
                1, 1, true, true, false, true, false, make_one_reduction},
    KrylovEntry{"cg-pipelined", "Ghysels-Vanroose: the reduction travels beside the product", 1, 1,
                true, true, true, true, false, make<PipelinedCg>},
    KrylovEntry{"cg-pipelined-pr", "Chen-Carson: pipelined, predicts and recomputes", 1, 2, true,
                true, true, true, false, make<PredictRecomputeCg>},
    KrylovEntry{"fcg", "flexible, for preconditioners that are not symmetric", 2, 1, true, false,
                false, false, false, make_flexible},
    KrylovEntry{"gmres", "for any matrix and any preconditioner", 2, 1, false, false, false, false,
                false, make<Gmres>},
    KrylovEntry{"multigrid", "V-cycles in a Chebyshev iteration, for grids with --operator stencil",
                1, 1, true, true, false, false, true, make_multigrid},
};

}  // namespace

std::span<const KrylovEntry> krylov_methods() { return table; }

const KrylovEntry* find_krylov_method(std::string_view name) {
  const auto found = std::ranges::find(table, name, &KrylovEntry::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace weft::solver
