#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solver/krylov/reduced_cg.h"

namespace weft::solver {

/// Pipelined conjugate gradients that predict the next ‖r‖² to get β in time, and recompute what
/// was predicted: two products an iteration, both beside the reduction, and nearly the accuracy of
/// the textbook. A general preconditioner M is applied once an iteration, before the reduction.
///
///     one pass │ t = M·s │ sums of u, p, t ──► reduction ────────────────────────►│
///                                              a = A·t, w = A·u (their halos too) │ α, β predicted
///
/// Bytes per row besides the matrix, which is passed through twice: 48 + 80, with a diagonal
/// 48 + 96, with a general M 176. Source: Chen and Carson 2020, "Predict-and-recompute conjugate
/// gradient variants", PIPE-PR-CG; there M is applied twice, beside the reduction, too.
class PredictRecomputeCg final : public ReducedCg {
 public:
  static constexpr MethodFacts facts{.name = "cg-pipelined-pr",
                                     .summary = "Chen-Carson: pipelined, predicts and recomputes",
                                     .reductions = 1,
                                     .products = 2,
                                     .arrays = {6, 6, 8},
                                     .carried = {4, 4, 6},
                                     .vector_bytes = {128, 144, 176},
                                     .flops = {10, 12, 10},
                                     .needs_symmetric_matrix = true,
                                     .needs_symmetric_preconditioner = true,
                                     .hides_reduction = true,
                                     .is_cg_variant = true};
  MethodNeeds needs() const override { return facts.needs(use()); }

  PredictRecomputeCg(spmv::LinearOperator& op, Options options);

 private:
  Spare spare() override { return {t_.get(), a_.data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  std::vector<double*> carried() override {
    return {x_.data(), u_->values(), t_->values(), p_.data(), r_.data(), s_.data()};
  }
  void collective_complete(const comm_thread::TeamThread& thread) override;
  void collective_multiply_both(const comm_thread::TeamThread& thread);
  Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) override;
  void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                          const Step& step) override;
  void collective_pass(const comm_thread::TeamThread& thread, double alpha, double beta,
                       double r_square, double p_norm, bool is_stale);
  void collective_general_pass(const comm_thread::TeamThread& thread, double alpha, double beta,
                               double r_square, double p_square, bool is_stale);

  std::unique_ptr<spmv::Operand> u_;
  std::unique_ptr<spmv::Operand> t_;
  Array w_;
  Array a_;
  Array p_;
  Array r_;  // r and s = A·p of a general preconditioner
  Array s_;
};

}  // namespace weft::solver
