#pragma once

#include <memory>
#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/reduced_cg.h"

namespace weft::solver {

/// Pipelined conjugate gradients that predict and recompute, with any symmetric preconditioner M,
/// which is applied once an iteration, before the reduction; both products travel with it.
///
///     one pass │ t = M·s │ sums ──► reduction ───────────►│
///                                   a = A·t, w = A·u      │ α, β predicted
///
/// Source: Chen and Carson 2020, PIPE-PR-CG; there M is applied twice, beside the reduction, too.
class PreconditionedPredictRecomputeCg final : public ReducedCg {
 public:
  /// As KrylovMethod. `options.inverse` is given.
  PreconditionedPredictRecomputeCg(spmv::LinearOperator& op, Options options);
  double vector_bytes() const override { return 176; }
  int product_count() const override { return 2; }

 private:
  Spare spare() override { return {*t_, a_.data()}; }
  void start(const comm_thread::TeamThread& thread, std::span<const double> b) override;
  void collective_begin_again(const comm_thread::TeamThread& thread,
                              std::span<const double> b) override;
  Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) override;
  void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                          const Step& step) override;
  void collective_pass(const comm_thread::TeamThread& thread, double alpha, double beta,
                       double r_square, double p_norm);

  InverseOperator& inverse_;
  double norm_;  // ‖A‖ at most
  comm_thread::ReproducibleSum sums_;  // r·r, r·u, p·s, r·t, s·t
  std::unique_ptr<spmv::Operand> u_;
  std::unique_ptr<spmv::Operand> t_;
  Array r_;
  Array w_;
  Array a_;
  Array p_;
  Array s_;
};

}  // namespace weft::solver
