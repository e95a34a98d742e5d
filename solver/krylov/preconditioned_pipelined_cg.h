#pragma once

#include <memory>
#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/reduced_cg.h"

namespace weft::solver {

/// Conjugate gradients whose one reduction travels while the preconditioner M and the operator
/// work.
///
///     sums of r, u, w ──► reduction ──────────────────────►│
///                         m = M·w, n = A·m (its halo too)  │ α, β ──► one pass over ten vectors
///
/// Source: Ghysels and Vanroose 2014, algorithm 4.
class PreconditionedPipelinedCg final : public ReducedCg {
 public:
  /// As KrylovMethod. `options.inverse` is given.
  PreconditionedPipelinedCg(spmv::LinearOperator& op, Options options);
  double vector_bytes() const override { return 192; }

 private:
  Spare spare() override { return {*m_, n_.data()}; }
  void start(const comm_thread::TeamThread& thread, std::span<const double> b) override;
  void collective_begin_again(const comm_thread::TeamThread& thread,
                              std::span<const double> b) override;
  Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) override;
  void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                          const Step& step) override;
  void collective_begin(const comm_thread::TeamThread& thread);

  InverseOperator& inverse_;
  double norm_;  // ‖A‖ at most
  comm_thread::ReproducibleSum sums_;  // r·r, r·u, w·u
  std::unique_ptr<spmv::Operand> m_;
  Array r_;
  Array u_;
  Array w_;
  Array n_;
  Array p_;
  Array q_;
  Array s_;
  Array z_;
};

}  // namespace weft::solver
