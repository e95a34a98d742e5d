#pragma once

#include <memory>

#include "solver/krylov/diagonal_scaling.h"
#include "solver/krylov/reduced_cg.h"

namespace weft::solver {

/// Conjugate gradients with one reduction an iteration, for any operator.
///
///     w = A·u, u·w              read u, write w (16 with write-allocate)      24
///     p, s, x, u and their sums                                               72   (+16 for D)
///
/// On grids StencilCg does the same in one pass of 48.
/// Source: Chronopoulos and Gear 1989.
class OneReductionCg final : public ReducedCg {
 public:
  /// As KrylovMethod. Throws comm_thread::InputError on every rank when Jacobi preconditioning
  /// meets a diagonal entry that is zero.
  OneReductionCg(spmv::LinearOperator& op, Options options);
  double vector_bytes() const override { return scaling_.is_one() ? 96 : 112; }

 private:
  Spare spare() override { return {*u_, w_.data()}; }
  void start(const comm_thread::TeamThread& thread, std::span<const double> b) override;
  void collective_begin_again(const comm_thread::TeamThread& thread,
                              std::span<const double> b) override;
  Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) override;
  void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                          const Step& step) override;

  DiagonalScaling scaling_;
  double norm_;
  comm_thread::ReproducibleSum sums_;  // r·r, r·u, u·w
  std::unique_ptr<spmv::Operand> u_;
  Array w_;
  Array p_;
  Array s_;
};

}  // namespace weft::solver
