#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solver/krylov/reduced_cg.h"

namespace weft::solver {

/// Conjugate gradients whose one reduction travels while the operator, and a general preconditioner
/// M before it, work.
///
///     sums of u, w ──► reduction ─────────────────────►│
///                      m = M·w, n = A·m (its halo too) │ α, β ──► one pass over seven vectors
///
/// r, w = A·u and their like are carried by recurrences, whose rounding adds up. Bytes per row
/// besides the matrix: 24 + 104, with a diagonal 24 + 128, with a general M 192 in a pass over ten
/// vectors. Source: Ghysels and Vanroose 2014, algorithm 4.
class PipelinedCg final : public ReducedCg {
 public:
  static constexpr MethodFacts facts{
      .name = "cg-pipelined",
      .summary = "Ghysels-Vanroose: the reduction travels beside the product",
      .reductions = 1,
      .products = 1,
      .arrays = {7, 8, 10},
      .carried = {6, 7, 9},
      .vector_bytes = {128, 152, 192},
      .flops = {10, 12, 10},
      .needs_symmetric_matrix = true,
      .needs_symmetric_preconditioner = true,
      .hides_reduction = true,
      .is_cg_variant = true};
  MethodNeeds needs() const override { return facts.needs(use()); }

  PipelinedCg(spmv::LinearOperator& op, Options options);

 private:
  Spare spare() override { return {m_.get(), n_.data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  std::vector<double*> carried() override {
    return {x_.data(), u_.data(), m_->values(), w_.data(), p_.data(),
            s_.data(), z_.data(), r_.data(),    q_.data()};
  }
  void collective_complete(const comm_thread::TeamThread& thread) override;
  Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) override;
  void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                          const Step& step) override;
  double* w() { return is_identity() ? m_->values() : w_.data(); }

  std::unique_ptr<spmv::Operand> m_;
  Array u_;
  Array w_;  // empty with the identity: m itself
  Array n_;
  Array p_;
  Array s_;
  Array z_;
  Array r_;  // r and q = M·s of a general preconditioner
  Array q_;
};

}  // namespace weft::solver
