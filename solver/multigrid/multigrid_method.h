#pragma once

#include <memory>
#include <optional>
#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/method.h"
#include "solver/multigrid/cycle.h"
#include "solver/multigrid/full_start.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "spmv/grid/layout.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::solver {

/// Multigrid as a solver: cycles inside Chebyshev's semi-iteration, whose coefficients follow
/// from bounds of the cycle's eigenvalues. It takes as many iterations as conjugate gradients with
/// the same cycle, without a scalar product.
///
///     down   r = b − A·x, smoothing, restriction     reads x, b; writes r and the smoothed x̂  32
///     up     interpolation, smoothing to z,
///            d = β·d + α·z, x += d                   reads r, x̂, d, x; writes d, x            32
///
/// 64 bytes a row and iteration with write-allocate: x and b are double, the rest single
/// precision. The residual is
/// always the true one, so that its norm needs no check at the end.
class MultigridMethod final : public KrylovMethod {
 public:
  /// As KrylovMethod; without a preconditioner.
  MultigridMethod(spmv::StencilOperator& op, Options options);
  double vector_bytes() const override { return 64; }

  /// What each grid took since the last call of `forget_times`. Thread: the main thread, outside
  /// the team.
  CycleReport report();
  void forget_times() { cycle_->forget_times(); }

 private:
  Spare spare() override { return {nullptr, nullptr}; }
  double collective_true_norm(const comm_thread::TeamThread&, std::span<const double>) override {
    return norm_;
  }
  void collective_begin(const comm_thread::TeamThread& thread, std::span<const double> b,
                        const double* product) override;
  void collective_iterate(const comm_thread::TeamThread& thread, std::span<const double> b,
                          double bound, double& first_norm, SolveReport& report) override;
  std::unique_ptr<Cycle> collective_make(const spmv::StencilOperator& op);
  Recurrence recurrence() const override;
  /// What the iteration carries between two cycles, besides x and the direction.
  struct Carried {
    double norm = 0;
    double factor = 1;  // by which the last iteration has reduced the residual
    double rho = 0;  // of the semi-iteration
  };
  void collective_carry_all(const comm_thread::TeamThread& thread, Carry direction,
                            double& first_norm, SolveReport& report, Carried& carried);
  FinestResidual residual() const;
  double collective_norm(const comm_thread::TeamThread& thread, spmv::CloseSum& square);
  /// ‖b − A·x‖ in a pass of its own.
  double collective_measure(const comm_thread::TeamThread& thread, double bound);
  void copy_rows(const comm_thread::TeamThread& thread, const spmv::GridLayout& from_layout,
                 const double* from, const spmv::GridLayout& to_layout, double* to) const;

  spmv::StencilOperator& grid_;
  std::unique_ptr<Cycle> cycle_;
  std::optional<FullStart> full_start_;
  comm_thread::ReproducibleSum squares_;
  GridArray direction_;
  Array direction_copy_;  // in the shape of the operator, for checkpoints
  double norm_ = 0;  // ‖b − A·x‖, last

  // With other ranks, whose values the passes read several points deep.
  spmv::GridLayout layout_;
  Array b_deep_;
  Array x_deep_;
  std::optional<BoxExchange<double>> b_halo_;
  std::optional<BoxExchange<double>> x_halo_;
  const double* b_values_ = nullptr;
  double* x_values_ = nullptr;
};

}  // namespace weft::solver
