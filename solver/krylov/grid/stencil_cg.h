#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "solver/krylov/grid/slab.h"
#include "solver/krylov/reduced_cg.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/grid/stencil_wavefront.h"
#include "spmv/modes/work.h"

namespace weft::solver {

/// Conjugate gradients on a grid in one pass through memory and one reduction an iteration: A·p and
/// A·r are computed again where they are needed (spmv::StencilStep). 48 bytes per row and
/// iteration; four vectors with b. Nothing but p·A·p is carried by a recurrence, and that has a
/// guard.
///
/// The points that other ranks wait for come first, so that r travels beside the pass as the mode
/// wants it:
///
///     own points of a rank with a neighbour on its left
///       s e o o o o o     s  surface: p, x, r before the pass, because the neighbour reads r;
///       s e o o o o o        r·A·r after it, when the halo is there
///       s e o o o o o     e  p before the pass, because r of s needs it
///
///     every thread      p of the ghost points, of s and e, of planes next to another thread
///     barrier           x, r of s; r begins to travel
///                       the pass: p, x, r elsewhere, r·A·r where nothing is missing
///     barrier           r·A·r next to other threads; the halo arrives; r·A·r of s, reduction
///
/// Source: Chronopoulos and Gear 1989.
class StencilCg final : public ReducedCg {
 public:
  /// A diagonal preconditioner changes nothing, because the diagonal is constant.
  static bool suits(const MethodUse& use) { return !use.is_general(); }
  static constexpr MethodFacts facts{.name = "cg-one-reduction-on-a-grid",
                                     .summary = "in one pass",
                                     .reductions = 1,
                                     .products = 1,
                                     .arrays = {3, 3, 3},
                                     .carried = {3, 3, 3},
                                     .vector_bytes = {48, 48, 48},
                                     .flops = {10, 12, 10}};
  MethodNeeds needs() const override { return facts.needs(use()); }

  /// As KrylovMethod.
  StencilCg(spmv::StencilOperator& op, Options options);

 private:
  /// The pass as work for the modes; r·A·r is all that is kept of A·r.
  class Pass final : public spmv::Work {
   public:
    Pass(StencilCg& method, const Step& step, double beta, spmv::CloseSum& r_dot_r)
        : method_(method), step_(step), beta_(beta), r_dot_r_(r_dot_r) {}
    void run(spmv::RowSet part, const comm_thread::TeamThread& thread,
             const std::function<void()>& pause) const override;

   private:
    StencilCg& method_;
    const Step& step_;
    double beta_;
    spmv::CloseSum& r_dot_r_;  // of this thread
  };

  Spare spare() override { return {r_.get(), p_.data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  std::vector<double*> carried() override { return {x_.data(), r_->values(), p_.data()}; }
  void collective_complete(const comm_thread::TeamThread& thread) override;
  void collective_exchange_r(const comm_thread::TeamThread& thread);
  Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) override;
  void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                          const Step& step) override;
  double collective_curvature(const comm_thread::TeamThread& thread, double r_square);
  void forget_direction(const comm_thread::TeamThread& thread);
  const GridSlab& slab(const comm_thread::TeamThread& thread) const {
    return slabs_[static_cast<std::size_t>(thread.index)];
  }

  spmv::StencilOperator& grid_;
  std::unique_ptr<spmv::Operand> r_;
  Array p_;
  std::vector<GridSlab> slabs_;  // of the points o and e
  std::vector<spmv::GridBox> surface_;
  spmv::GridBox deep_;  // points o
  std::vector<spmv::GridBox> beside_;  // points s and e
};

}  // namespace weft::solver
