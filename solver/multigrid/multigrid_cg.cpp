#include "solver/multigrid/multigrid_cg.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "perfmodel/simd.h"
#include "solver/krylov/conjugate_gradient.h"
#include "solver/krylov/fused_vector_kernels.h"
#include "solver/krylov/grid/two_pass_cg.h"
#include "solver/multigrid/cycle_of_vectors.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/multigrid_preconditioner.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/stencil_kernel.h"
#include "spmv/grid/stencil_wavefront.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::BinnedSum;
using spmv::CloseSum;

/// Terms of p·A·p.
template <class Shape>
struct CurvatureTerms {
  template <class Value>
  [[gnu::always_inline]] Value at(std::size_t i) const {
    return perfmodel::load<Value>(p + i) * shape.template at<Value>(p + i, row, plane);
  }
  Shape shape;
  const double* p;
  std::ptrdiff_t row;
  std::ptrdiff_t plane;
};

/// The method with a cycle whose values are float or double.
template <class Value>
class MultigridCg final : public TwoPassCg {
 public:
  MultigridCg(spmv::StencilOperator& op, const Options& options, MultigridPreconditioner& m,
              CycleOfGridVectors<Value>& cycle)
      : TwoPassCg(op, options),
        m_(m),
        cycle_(cycle),
        sums_(collective_make_sum(2)),
        z_(op.layout()) {}

  MethodNeeds needs() const override {
    MethodUse of_this = use();
    of_this.multigrid.is_double = std::is_same_v<Value, double>;
    return multigrid_cg_needs(of_this);
  }

 private:
  spmv::DirectionStart start_of_direction() override {
    if constexpr (std::is_same_v<Value, float>)
      return {.single = z_.values(), .factor = factor_of_z()};
    else
      return {.scaled = z_.values(), .factor = factor_of_z()};
  }
  double factor_of_z() { return 1 / m_.unit().value(0); }

  // As of ConjugateGradient, with A·p computed where a sum is made again.
  double curvature_bound(const TeamThread& thread, const Column& column) override {
    return fitted(column).template next<CloseSum>(thread, sum_pq,
                                                  TwoPassCg::curvature_bound(thread, column));
  }
  double collective_fit_curvature(const TeamThread& thread, Column& column, double sum) override;
  void collective_start(const TeamThread& thread, Columns columns) override;
  void collective_update_residual(const TeamThread& thread, Columns columns) override;
  double collective_residual_norm(const TeamThread& thread, Column& column,
                                  const CloseSum& r_dot_r);
  void collective_precondition(const TeamThread& thread, Column& column, CloseSum& r_dot_r,
                               bool has_right_hand_side);

  MultigridPreconditioner& m_;
  CycleOfGridVectors<Value>& cycle_;
  comm_thread::ReproducibleSum sums_;  // r·r, r·z
  GridArray<Value> z_;  // z by its factor; in memory as the operator's vectors
};

template <class Value>
double MultigridCg<Value>::collective_fit_curvature(const TeamThread& thread, Column& column,
                                                    double sum) {
  double fit = 0;
  const spmv::GridLayout& layout = grid().layout();
  spmv::visit_shape(grid().stencil(), [&](const auto& shape) {
    fit = fitted(column).collective_fit_one(
        thread, sum_pq, sum,
        CurvatureTerms<std::decay_t<decltype(shape)>>{shape, p(), layout.row_stride(),
                                                      layout.plane_stride()});
  });
  return fit;
}

template <class Value>
void MultigridCg<Value>::collective_start(const TeamThread& thread, Columns columns) {
  Column& column = columns.front();
  CloseSum r_dot_r(fitted(column).template next<CloseSum>(thread, sum_rr, column.square()));
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_product(r() + i, r() + i, count, r_dot_r);
    });
  }
  collective_precondition(thread, column, r_dot_r, false);
}

template <class Value>
void MultigridCg<Value>::collective_update_residual(const TeamThread& thread, Columns columns) {
  Column& column = columns.front();
  CloseSum r_dot_r(fitted(column).template next<CloseSum>(thread, sum_rr, column.square()));
  const bool has_unit = m_.unit().is_chosen(0);
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    GridArray<Value>& f = cycle_.right_hand_side();
    const spmv::ScaledCopy<Value> copy{f.layout(), f.values(), cycle_.factor(m_.unit().value(0))};
    if (has_unit)
      spmv::update_residual(grid().stencil(), grid().layout(), column.alpha, p(), r(),
                            slab(thread).own, r_dot_r, copy);
    else
      spmv::update_residual(grid().stencil(), grid().layout(), column.alpha, p(), r(),
                            slab(thread).own, r_dot_r);
  }
  collective_precondition(thread, column, r_dot_r, has_unit);
}

/// ‖r‖ alone.
template <class Value>
double MultigridCg<Value>::collective_residual_norm(const TeamThread& thread, Column& column,
                                                    const CloseSum& r_dot_r) {
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  CloseSum sum = r_dot_r;
  sum.flush(extra_sum().part(thread.index));
  extra_sum().collective_reduce(thread);
  return std::sqrt(fitted(column).collective_fit_one(
      thread, sum_rr, extra_sum().result(), [r = r()](std::size_t i) { return r[i] * r[i]; }));
}

/// z, unless ‖r‖ is below the norm that is looked for; and `next`.
template <class Value>
void MultigridCg<Value>::collective_precondition(const TeamThread& thread, Column& column,
                                                 CloseSum& r_dot_r, bool has_right_hand_side) {
  if (column.looked_for > 0) {
    column.next = {.r = collective_residual_norm(thread, column, r_dot_r)};
    if (column.next.r < column.looked_for) return;
  }
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    thread.barrier();
    if (!has_right_hand_side) {
      m_.unit().collective_choose(thread, 0, cycle_.scale(),
                                  [&] { return cycle_.largest(thread, r()); });
      cycle_.take(thread, r(), m_.unit().value(0));
      thread.barrier();
    }
    BinnedSum r_dot_z(fitted(column).template next<BinnedSum>(
        thread, sum_rz, preconditioner_norm() * column.square()));
    cycle_.collective_run(thread, {.array = &z_,
                                   .layout = &grid().layout(),
                                   .r = r(),
                                   .r_dot_x = &r_dot_z,
                                   .factor = factor_of_z()});
    r_dot_r.flush(sums_.part(thread.index, 0));
    r_dot_z.flush(sums_.part(thread.index, 1));
  }
  collective_reduce(thread, sums_);
  std::array<double, 2> values{sums_.result(0), sums_.result(1)};
  fitted(column).collective_fit(
      thread, values,
      [r = r(), z = z_.values(), factor = factor_of_z()](std::size_t sum, std::size_t i) {
        return r[i] * (sum == sum_rr ? r[i] : factor * static_cast<double>(z[i]));
      });
  column.next = {.r = std::sqrt(values[0]), .r_dot_z = values[1]};
}

template <class Value>
std::unique_ptr<KrylovMethod> make_with(spmv::StencilOperator& op,
                                        const KrylovMethod::Options& options,
                                        MultigridPreconditioner& m) {
  auto* const cycle = dynamic_cast<CycleOfGridVectors<Value>*>(&m.cycle());
  if (!cycle || &cycle->layout() != &op.layout()) return nullptr;
  return std::make_unique<MultigridCg<Value>>(op, options, m, *cycle);
}

}  // namespace

MethodNeeds multigrid_cg_needs(const MethodUse& use) {
  MethodNeeds needs = ConjugateGradient::facts.needs(use);
  const double value = use.multigrid.is_double ? sizeof(double) : sizeof(float);
  needs.arrays = TwoPassCg::facts.needs(use).arrays + value / sizeof(double);
  needs.vector_bytes = (32 + value) + (24 + 2 * value) + (8 + 2 * value);
  return needs;
}

std::unique_ptr<KrylovMethod> collective_make_multigrid_cg(spmv::StencilOperator& op,
                                                           const KrylovMethod::Options& options) {
  auto* const m = dynamic_cast<MultigridPreconditioner*>(options.preconditioner);
  if (!m || options.checkpoints) return nullptr;
  if (auto made = make_with<float>(op, options, *m)) return made;
  return make_with<double>(op, options, *m);
}

}  // namespace weft::solver
