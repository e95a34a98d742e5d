#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/traffic_model.h"
#include "solver/krylov/method.h"
#include "solver/multigrid/cycle_spectrum.h"
#include "solver/multigrid/grids/chebyshev.h"

namespace weft::solver {

/// Multigrid as a solver of any operator that has a cycle M, such as matrices whose grid is known:
/// Chebyshev's semi-iteration for M·A. On grids without a matrix MultigridMethod does the same in
/// fewer passes.
///
///     d = β·d + α·M·r, x += d       read z, d, x, write d, x          40, and M
///     q = A·d                       read d, write q                    8 + 16, and the matrix
///     r -= q, r·r                   read r, q, write r                24
///
/// One reduction an iteration, of the norm. The last residual is the recurrence's; the common part
/// of all methods compares it with the true one.
/// Source: Saad, "Iterative Methods for Sparse Linear Systems", algorithm 12.1.
class PreconditionedSemiIteration final : public KrylovMethod {
 public:
  static MethodNeeds needs(const MethodUse& use) {
    return {.state = "multigrid of a matrix",
            .arrays = 5,
            .carried = 3,
            .vector_bytes = 88,
            .flops_per_row = perfmodel::multigrid_flops(1, use.multigrid.steps),
            .flops_per_nonzero = 0};
  }
  MethodNeeds needs() const override { return needs(use()); }

  /// `options.preconditioner`: a MultigridPreconditioner. Where bounds are not known they cost 12
  /// iterations of CG here. Collective. Thread: the main thread, outside the team.
  PreconditionedSemiIteration(spmv::LinearOperator& op, Options options);

  const SpectrumBounds& bounds() const { return bounds_; }

 private:
  Spare spare() override { return {d_.get(), q_.data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  void collective_iterate(const comm_thread::TeamThread& thread, Solves solves) override;
  std::vector<double*> carried() override { return {x_.data(), r_.data(), d_->values()}; }
  void advance(const comm_thread::TeamThread& thread, const SemiIteration::Step& step);
  double collective_norm(const comm_thread::TeamThread& thread, spmv::BinnedSum& square);

  SpectrumBounds bounds_;
  comm_thread::ReproducibleSum squares_;
  std::unique_ptr<spmv::Operand> d_;
  Array r_;
  Array q_;
  Array z_;
};

}  // namespace weft::solver
