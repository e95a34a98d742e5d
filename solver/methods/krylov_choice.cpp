#include "solver/methods/krylov_choice.h"

#include "solver/krylov/conjugate_gradient.h"
#include "solver/krylov/gmres.h"
#include "solver/krylov/grid/stencil_cg.h"
#include "solver/krylov/grid/two_pass_cg.h"
#include "solver/krylov/one_reduction_cg.h"
#include "solver/krylov/pipelined_cg.h"
#include "solver/krylov/preconditioned_cg.h"
#include "solver/krylov/preconditioned_one_reduction_cg.h"
#include "solver/krylov/preconditioned_pipelined_cg.h"
#include "solver/krylov/preconditioned_predict_recompute_cg.h"
#include "solver/krylov/predict_recompute_cg.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::solver {

std::vector<KrylovVariant> all_krylov_variants() {
  return {KrylovVariant::cg, KrylovVariant::one_reduction, KrylovVariant::pipelined,
          KrylovVariant::predict_recompute};
}

const char* name(KrylovVariant variant) {
  switch (variant) {
    case KrylovVariant::cg:
      return "cg";
    case KrylovVariant::one_reduction:
      return "cg-one-reduction";
    case KrylovVariant::pipelined:
      return "cg-pipelined";
    case KrylovVariant::flexible:
      return "fcg";
    case KrylovVariant::gmres:
      return "gmres";
    case KrylovVariant::predict_recompute:
      break;
  }
  return "cg-pipelined-pr";
}

std::optional<KrylovVariant> parse_krylov_variant(std::string_view text) {
  for (const KrylovVariant variant : all_krylov_variants())
    if (text == name(variant)) return variant;
  for (const KrylovVariant variant : {KrylovVariant::flexible, KrylovVariant::gmres})
    if (text == name(variant)) return variant;
  return std::nullopt;
}

namespace {

/// With any preconditioner.
std::unique_ptr<KrylovMethod> collective_make_preconditioned(KrylovVariant variant,
                                                             spmv::LinearOperator& op,
                                                             const KrylovMethod::Options& options) {
  switch (variant) {
    case KrylovVariant::one_reduction:
      return std::make_unique<PreconditionedOneReductionCg>(op, options);
    case KrylovVariant::pipelined:
      return std::make_unique<PreconditionedPipelinedCg>(op, options);
    case KrylovVariant::predict_recompute:
      return std::make_unique<PreconditionedPredictRecomputeCg>(op, options);
    case KrylovVariant::gmres:
      return std::make_unique<Gmres>(op, options);
    case KrylovVariant::cg:
    case KrylovVariant::flexible:
      break;
  }
  return std::make_unique<PreconditionedCg>(op, options, variant == KrylovVariant::flexible);
}

}  // namespace

std::unique_ptr<KrylovMethod> collective_make_krylov_method(KrylovVariant variant,
                                                            spmv::LinearOperator& op,
                                                            const KrylovMethod::Options& options) {
  if (options.inverse) return collective_make_preconditioned(variant, op, options);
  auto* const grid = dynamic_cast<spmv::StencilOperator*>(&op);
  switch (variant) {
    case KrylovVariant::cg:
    case KrylovVariant::flexible:
      if (grid && options.preconditioner == Preconditioner::none)
        return std::make_unique<TwoPassCg>(*grid, options);
      return std::make_unique<ConjugateGradient>(op, options);
    case KrylovVariant::one_reduction:
      if (grid) return std::make_unique<StencilCg>(*grid, options);
      return std::make_unique<OneReductionCg>(op, options);
    case KrylovVariant::pipelined:
      return std::make_unique<PipelinedCg>(op, options);
    case KrylovVariant::gmres:
      return std::make_unique<Gmres>(op, options);
    case KrylovVariant::predict_recompute:
      break;
  }
  return std::make_unique<PredictRecomputeCg>(op, options);
}

}  // namespace weft::solver
