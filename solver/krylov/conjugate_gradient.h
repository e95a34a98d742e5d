#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/block_operand.h"
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
///
/// For 2, 4 or 8 right-hand sides at once, products read the matrix once for all, one message
/// carries the halos of all, and one reduction their sums. Each solution has the iterations and the
/// bits that it has alone.
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
  /// `width`: 2, 4 or 8 right-hand sides at once.
  ConjugateGradient(spmv::SparseOperator& op, Options options, int width);

  /// True with a general preconditioner only. New vectors, whose pages nobody has touched, took a
  /// fifth of the time that amg takes for new values.
  bool collective_take_new_values() override;

 private:
  Spare spare() override { return {p_.get(), q_.data()}; }
  void collective_multiply_solutions(const comm_thread::TeamThread& thread,
                                     perfmodel::PhaseTimer& timer) override;
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  std::vector<double*> carried() override {
    return {x_.data(), p(), r_.data(), general() ? z() : nullptr};
  }
  void collective_start(const comm_thread::TeamThread& thread, Columns columns) override;
  void collective_update_residual(const comm_thread::TeamThread& thread, Columns columns) override;
  void collective_advance(const comm_thread::TeamThread& thread, Columns columns) override;
  void finish(const comm_thread::TeamThread& thread, const Column& column) override;
  /// True if `beta` uses z·q.
  virtual bool needs_z_dot_q() const { return false; }
  double* p(int column = 0) { return p_ ? p_->values() : columns_of_p_.data() + start_of(column); }
  double* z(int column = 0) { return (z_.size() > 0 ? z_.data() : q_.data()) + start_of(column); }
  /// Sums of a column that are reduced together.
  int residual_sums() const { return general() ? 3 : 2; }
  comm_thread::ExactAccumulator& part(const comm_thread::TeamThread& thread, const Column& column,
                                      int sum) {
    return residual_.part(thread.index, column.number * residual_sums() + sum);
  }
  template <class Pass>
  void collective_sum_residuals(const comm_thread::TeamThread& thread, Columns columns,
                                const Pass& pass);
  bool collective_precondition(const comm_thread::TeamThread& thread, Column& column,
                               ResidualSums& sums);
  double collective_residual_norm(const comm_thread::TeamThread& thread, Column& column,
                                  const spmv::CloseSum& r_dot_r);
  void collective_find_norms(const comm_thread::TeamThread& thread, Column& column);
  void collective_multiply_directions(const comm_thread::TeamThread& thread, Columns columns);

  double norm_;  // upper bound of ‖A‖
  comm_thread::ReproducibleSum curvature_;  // [width] p·A·p
  comm_thread::ReproducibleSum residual_;  // [width] of r·r, r·z, with a general M z·q
  std::unique_ptr<spmv::Operand> p_;  // of one right-hand side
  std::optional<BlockOperand> block_;  // of several
  Array columns_of_p_;
  Array r_;
  Array q_;

 protected:
  Array z_;  // of a general preconditioner, where z·q is needed
};

}  // namespace weft::solver
