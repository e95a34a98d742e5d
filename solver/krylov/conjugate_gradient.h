#pragma once

#include <initializer_list>
#include <memory>
#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/fused_vector_kernels.h"
#include "solver/krylov/textbook_cg.h"

namespace weft::solver {

/// Textbook conjugate gradients for any operator and any symmetric preconditioner M.
///
/// Three passes and two reductions an iteration; bytes per row besides the matrix:
///
///     x += α p, p = z + β p     read x, p, r, write x, p                      40   (+8 for D⁻¹)
///     q = A·p, p·q              read p, write q (16 with write-allocate)      8 + 16
///     r -= α q, r·r             read r, q, write r                            24   (+8 for D⁻¹)
///
/// 88 in all, against 120 and more where each vector operation is a loop of its own: the update of
/// x waits for the pass that reads p anyway. With the identity or a diagonal, z = M·r is never
/// stored; with a general M it is, which takes 96 besides M, in the memory of q, which nobody needs
/// by then. M is not applied to a residual that is small enough: near the end r·r is reduced
/// before. On grids TwoPassCg needs 64.
class ConjugateGradient : public TextbookCg {
 public:
  static constexpr MethodFacts facts{.name = "cg",
                                     .summary = "textbook conjugate gradients",
                                     .reductions = 2,
                                     .products = 1,
                                     .arrays = {4, 4, 4},
                                     .carried = {3, 3, 4},
                                     .vector_bytes = {88, 104, 96},
                                     .flops = {10, 12, 10},
                                     .needs_symmetric_matrix = true,
                                     .needs_symmetric_preconditioner = true,
                                     .is_cg_variant = true,
                                     .has_blocks = true};
  MethodNeeds needs() const override { return facts.needs(use()); }

  ConjugateGradient(spmv::LinearOperator& op, Options options);

  /// True with a general preconditioner only. New vectors, whose pages nobody has touched, took a
  /// fifth of the time that amg takes for new values.
  bool collective_take_new_values() override;

 private:
  Spare spare() override { return {p_.get(), q_.data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, std::span<const double> b,
                        const double* product) override;
  void collective_carry_all(const comm_thread::TeamThread& thread, Carry direction,
                            double& first_norm, SolveReport& report,
                            std::initializer_list<double*> scalars) override {
    collective_carry(thread, direction, first_norm, report, scalars,
                     {x_.data(), p_->values(), r_.data(), general() ? z() : nullptr});
  }
  Norms collective_start(const comm_thread::TeamThread& thread, double bound) override;
  double collective_advance(const comm_thread::TeamThread& thread, const Step& last,
                            const Norms& norms) override;
  Norms collective_update_residual(const comm_thread::TeamThread& thread, double alpha,
                                   const Norms& norms) override;
  void finish(const comm_thread::TeamThread& thread, double alpha) override;
  /// True if `beta` uses z·q.
  virtual bool needs_z_dot_q() const { return false; }
  double* z() { return z_.size() > 0 ? z_.data() : q_.data(); }
  ResidualSums next_sums(const comm_thread::TeamThread& thread, double square);
  Norms collective_norms(const comm_thread::TeamThread& thread, ResidualSums& sums);
  double collective_residual_norm(const comm_thread::TeamThread& thread,
                                  const spmv::CloseSum& r_dot_r);
  Norms collective_precondition(const comm_thread::TeamThread& thread, ResidualSums& sums,
                                double square_bound, double looked_for);

  double norm_;  // upper bound of ‖A‖
  comm_thread::ReproducibleSum curvature_;  // p·A·p
  comm_thread::ReproducibleSum residual_;  // r·r, r·z, z·q
  std::unique_ptr<spmv::Operand> p_;
  Array r_;
  Array q_;

 protected:
  Array z_;  // of a general preconditioner, where z·q is needed
};

}  // namespace weft::solver
