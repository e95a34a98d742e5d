#pragma once

#include <memory>
#include <vector>

#include "solver/grid_slab.h"
#include "solver/reduced_cg.h"
#include "spmv/stencil_operator.h"
#include "spmv/stencil_wavefront.h"

namespace weft::solver {

/// Conjugate gradients on a grid in one pass through memory and one reduction an iteration: A·p and
/// A·r are computed again where they are needed (spmv::StencilStep). 48 bytes per row and
/// iteration; four vectors with b. Nothing but p·A·p is carried by a recurrence, and that has a
/// guard.
///
/// Ranks and threads own slabs that cannot all be passed through at once:
///
///     every thread      p of the planes next to another thread; p of the ghost points
///     barrier           the pass: p, x, r everywhere, r·A·r where no neighbour is missing
///     barrier           r travels (task mode: meanwhile r·A·r next to other threads)
///                       r·A·r next to other ranks, reduction
///
/// Source: Chronopoulos and Gear 1989.
class StencilCg final : public ReducedCg {
 public:
  /// As KrylovMethod. A diagonal preconditioner changes nothing, because the diagonal is constant.
  StencilCg(spmv::StencilOperator& op, Options options);
  double vector_bytes() const override { return 48; }

 private:
  Spare spare() override { return {*r_, p_.data()}; }
  void start(const comm_thread::TeamThread& thread, std::span<const double> b) override;
  void collective_begin_again(const comm_thread::TeamThread& thread,
                              std::span<const double> b) override;
  Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) override;
  void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                          const Step& step) override;
  void begin(const comm_thread::TeamThread& thread);
  void exchange_while(const comm_thread::TeamThread& thread, spmv::CloseSum& r_dot_ar);
  void add_curvature(const spmv::GridBox& box, spmv::CloseSum& r_dot_ar);
  const GridSlab& slab(const comm_thread::TeamThread& thread) const {
    return slabs_[static_cast<std::size_t>(thread.index)];
  }

  spmv::StencilOperator& grid_;
  comm_thread::ReproducibleSum sums_;  // r·r, r·A·r
  std::unique_ptr<spmv::Operand> r_;
  Array p_;
  std::vector<GridSlab> slabs_;
  std::vector<spmv::GridBox> surface_;  // own points that wait for the halo
};

}  // namespace weft::solver
