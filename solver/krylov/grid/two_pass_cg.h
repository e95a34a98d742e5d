#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/grid/slab.h"
#include "solver/krylov/textbook_cg.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/grid/stencil_wavefront.h"
#include "spmv/modes/work.h"

namespace weft::solver {

/// The textbook's conjugate gradients on a grid in two passes, which compute A·p twice and never
/// store it; 64 bytes per row and iteration, four vectors with b. The bits are those of
/// ConjugateGradient.
///
///     x += α p, p = z + β p, p·A·p     reads x, p, z, writes x, p     40
///     r -= α A·p, r·r                  reads r, p, writes r           24
///
/// z is r; a derived class with a preconditioner has another, and other residual sums. The first
/// pass has the halo of p beside it: points that other ranks or threads read come before it, points
/// that need those of other ranks after it, as the mode wants it.
class TwoPassCg : public TextbookCg {
 public:
  static bool suits(const MethodUse& use) { return use.is_plain(); }
  static constexpr MethodFacts facts{.name = "cg",
                                     .summary = "in two passes",
                                     .reductions = 2,
                                     .products = 1,
                                     .arrays = {3, 3, 3},
                                     .carried = {3, 3, 3},
                                     .vector_bytes = {64, 64, 64},
                                     .flops = {10, 12, 10}};
  MethodNeeds needs() const override { return facts.needs(use()); }

  /// As KrylovMethod; without a preconditioner.
  TwoPassCg(spmv::StencilOperator& op, Options options);

 protected:
  /// z.
  virtual spmv::DirectionStart start_of_direction() { return {.r = r_.data()}; }
  /// Upper bound of p·A·p, for its sum; and p·A·p from that.
  virtual double curvature_bound(const comm_thread::TeamThread& /*thread*/, const Column& column) {
    return op().collective_norm() * column.norms.p * column.norms.p;
  }
  virtual double collective_fit_curvature(const comm_thread::TeamThread& /*thread*/,
                                          Column& /*column*/, double sum) {
    return sum;
  }
  void collective_start(const comm_thread::TeamThread& thread, Columns columns) override;
  void collective_update_residual(const comm_thread::TeamThread& thread, Columns columns) override;
  const GridSlab& slab(const comm_thread::TeamThread& thread) const {
    return slabs_[static_cast<std::size_t>(thread.index)];
  }
  const spmv::StencilOperator& grid() const { return grid_; }
  const double* p() const { return p_->values(); }
  double* r() { return r_.data(); }

 private:
  /// The first pass: renews p, then adds p·A·p, whose parts are all that is kept of A·p.
  class FirstPass final : public spmv::Work {
   public:
    FirstPass(TwoPassCg& method, const Column& column, double bound)
        : method_(method), column_(column), bound_(bound) {}
    void run(spmv::RowSet part, const comm_thread::TeamThread& thread,
             const std::function<void()>& pause) const override;

   private:
    TwoPassCg& method_;
    const Column& column_;
    double bound_;  // of p·A·p
  };

  Spare spare() override { return {p_.get(), r_.data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  std::vector<double*> carried() override { return {x_.data(), p_->values(), r_.data()}; }
  void collective_advance(const comm_thread::TeamThread& thread, Columns columns) final;
  void finish(const comm_thread::TeamThread& thread, const Column& column) override;
  void collective_find_norms(const comm_thread::TeamThread& thread, Column& column,
                             spmv::CloseSum& r_dot_r);

  spmv::StencilOperator& grid_;
  comm_thread::ReproducibleSum curvature_;  // p·A·p
  comm_thread::ReproducibleSum residual_;  // r·r
  std::unique_ptr<spmv::Operand> p_;
  Array r_;
  std::vector<GridSlab> slabs_;
  std::vector<spmv::GridBox> surface_;  // own points that wait for the halo
};

}  // namespace weft::solver
