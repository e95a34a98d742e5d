#pragma once

#include <memory>

#include "solver/krylov/diagonal_scaling.h"
#include "solver/krylov/reduced_cg.h"

namespace weft::solver {

/// Conjugate gradients whose one reduction travels while the operator works.
///
///     sums of u, w ──► reduction ─────────────►│
///                      n = A·m (its halo too)  │ α, β ──► one pass over seven vectors
///
/// r, w = A·u and their like are carried by recurrences, whose rounding adds up; ReducedCg watches.
/// Bytes per row besides the matrix: 24 + 104 (with D 128).
/// Source: Ghysels and Vanroose 2014, algorithm 4.
class PipelinedCg final : public ReducedCg {
 public:
  /// As OneReductionCg.
  PipelinedCg(spmv::LinearOperator& op, Options options);
  double vector_bytes() const override { return scaling_.is_one() ? 128 : 152; }

 private:
  Spare spare() override { return {*m_, n_.data()}; }
  void start(const comm_thread::TeamThread& thread, std::span<const double> b) override;
  void collective_begin_again(const comm_thread::TeamThread& thread,
                              std::span<const double> b) override;
  Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) override;
  void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                          const Step& step) override;
  void collective_begin(const comm_thread::TeamThread& thread);
  double* w() { return scaling_.is_one() ? m_->values() : w_.data(); }

  DiagonalScaling scaling_;
  double norm_;
  comm_thread::ReproducibleSum sums_;  // r·r, r·u, w·u
  std::unique_ptr<spmv::Operand> m_;
  Array u_;
  Array w_;  // empty without a preconditioner
  Array n_;
  Array p_;
  Array s_;
  Array z_;
};

}  // namespace weft::solver
