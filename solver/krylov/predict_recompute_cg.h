#pragma once

#include <memory>

#include "solver/krylov/diagonal_scaling.h"
#include "solver/krylov/reduced_cg.h"
#include "solver/krylov/reduced_cg_kernels.h"

namespace weft::solver {

/// Pipelined conjugate gradients that predict the next ‖r‖² to get β in time, and recompute what
/// was predicted: two products an iteration, both beside the reduction, and nearly the accuracy of
/// the textbook.
///
///     sums of u, p, t ──► reduction ────────────────────────►│
///                         a = A·t, w = A·u (their halos too) │ α, β predicted ──► one pass
///
/// Bytes per row besides the matrix, which is passed through twice: 48 + 80 (with D 96).
/// Source: Chen and Carson 2020, "Predict-and-recompute conjugate gradient variants", PIPE-PR-CG.
class PredictRecomputeCg final : public ReducedCg {
 public:
  /// As OneReductionCg.
  PredictRecomputeCg(spmv::LinearOperator& op, Options options);
  double vector_bytes() const override { return scaling_.is_one() ? 128 : 144; }
  int product_count() const override { return 2; }

 private:
  Spare spare() override { return {*t_, a_.data()}; }
  void start(const comm_thread::TeamThread& thread, std::span<const double> b) override;
  void collective_begin_again(const comm_thread::TeamThread& thread,
                              std::span<const double> b) override;
  Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) override;
  void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                          const Step& step) override;
  void collective_begin(const comm_thread::TeamThread& thread, double r_square);
  void pass(const comm_thread::TeamThread& thread, double alpha, double beta, double r_square,
            double p_norm);

  DiagonalScaling scaling_;
  double norm_;
  comm_thread::ReproducibleSum sums_;  // as PredictRecomputeSums
  std::unique_ptr<spmv::Operand> u_;
  std::unique_ptr<spmv::Operand> t_;
  Array w_;
  Array a_;
  Array p_;
};

}  // namespace weft::solver
