#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solver/krylov/reduced_cg.h"

namespace weft::solver {

/// Conjugate gradients with one reduction an iteration, for any operator and any symmetric
/// preconditioner M. Bytes per row besides the matrix, with the identity:
///
///     w = A·u, u·w              read u, write w (16 with write-allocate)      24
///     p, s, x, u and their sums                                               72   (+16 for D)
///
/// A general M keeps r beside u = M·r: 128 and M. On grids StencilCg does the same in one pass
/// of 48. Source: Chronopoulos and Gear 1989.
class OneReductionCg final : public ReducedCg {
 public:
  static constexpr MethodFacts facts{
      .name = "cg-one-reduction",
      .summary = "Chronopoulos-Gear; with a stencil in one pass through memory",
      .reductions = 1,
      .products = 1,
      .arrays = {5, 5, 6},
      .carried = {4, 4, 5},
      .vector_bytes = {96, 112, 128},
      .flops = {10, 12, 10},
      .needs_symmetric_matrix = true,
      .needs_symmetric_preconditioner = true,
      .is_cg_variant = true};
  MethodNeeds needs() const override { return facts.needs(use()); }

  OneReductionCg(spmv::LinearOperator& op, Options options);

 private:
  Spare spare() override { return {u_.get(), w_.data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  std::vector<double*> carried() override {
    return {x_.data(), u_->values(), p_.data(), s_.data(), r_.data()};
  }
  void collective_complete(const comm_thread::TeamThread& thread) override;
  Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) override;
  void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                          const Step& step) override;

  std::unique_ptr<spmv::Operand> u_;
  Array r_;  // of a general preconditioner
  Array w_;
  Array p_;
  Array s_;
};

}  // namespace weft::solver
