#pragma once

#include <memory>
#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/reduced_cg.h"

namespace weft::solver {

/// Conjugate gradients with one reduction an iteration and any symmetric preconditioner M.
///
///     p = u + β p, s = w + β s, x += α p, r -= α s │ u = M·r │ w = A·u │ sums of r, u, w
///
/// Source: Chronopoulos and Gear 1989.
class PreconditionedOneReductionCg final : public ReducedCg {
 public:
  /// As KrylovMethod. `options.inverse` is given.
  PreconditionedOneReductionCg(spmv::LinearOperator& op, Options options);
  double vector_bytes() const override { return 128; }

 private:
  Spare spare() override { return {*u_, w_.data()}; }
  void start(const comm_thread::TeamThread& thread, std::span<const double> b) override;
  void collective_begin_again(const comm_thread::TeamThread& thread,
                              std::span<const double> b) override;
  Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) override;
  void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                          const Step& step) override;

  InverseOperator& inverse_;
  double norm_;  // ‖A‖ at most
  comm_thread::ReproducibleSum sums_;  // r·r, r·u, u·w
  std::unique_ptr<spmv::Operand> u_;
  Array r_;
  Array w_;
  Array p_;
  Array s_;
};

}  // namespace weft::solver
