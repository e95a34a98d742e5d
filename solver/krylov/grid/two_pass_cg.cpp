#include "solver/krylov/grid/two_pass_cg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"
#include "spmv/grid/shares.h"
#include "spmv/modes/run_in_mode.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::CloseSum;
using spmv::GridBox;

TwoPassCg::TwoPassCg(spmv::StencilOperator& op, Options options)
    : TextbookCg(op, std::move(options)),
      grid_(op),
      curvature_(collective_make_sum(1)),
      residual_(collective_make_sum(1)),
      p_(collective_make_operand()),
      slabs_(cut_into_slabs(op.layout().own(), op.inner(), op.team().thread_count())),
      surface_(spmv::shell(op.layout().own(), op.inner())) {
  r_ = make_array();
}

void TwoPassCg::collective_find_norms(const TeamThread& thread, Column& column, CloseSum& r_dot_r) {
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  r_dot_r.flush(residual_.part(thread.index));
  residual_.collective_reduce(thread);
  std::array<double, 1> values{residual_.result()};
  fitted(column).collective_fit(thread, values,
                                [&](std::size_t, std::size_t i) { return r_[i] * r_[i]; });
  column.next = {.r = std::sqrt(values[0]), .r_dot_z = values[0]};
}

void TwoPassCg::collective_begin(const TeamThread& thread, const Solve& solve,
                                 const double* product) {
  subtract(thread, solve.b, product, r_.data());
  fill_zero(thread, {p_->values()});
  thread.barrier();
}

void TwoPassCg::collective_start(const TeamThread& thread, Columns columns) {
  Column& column = columns.front();
  ResidualSums sums(fitted(column).next<CloseSum>(thread, sum_rr, column.square()), 0);
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      start_residual(r_.data() + i, nullptr, r_.data() + i, count, sums);
    });
  }
  collective_find_norms(thread, column, sums.r_dot_r);
}

void TwoPassCg::FirstPass::run(spmv::RowSet part, const TeamThread& thread,
                               const std::function<void()>& pause) const {
  const spmv::StencilOperator& grid = method_.grid_;
  double* const p = method_.p_->values();
  const GridSlab& mine = method_.slab(thread);
  CloseSum sum(bound_);
  if (part != spmv::RowSet::boundary)
    spmv::renew_direction_in_one_pass(
        grid.stencil(), grid.layout(),
        {.alpha = column_.alpha,
         .beta = column_.beta,
         .z = method_.start_of_direction(),
         .p = p,
         .x = method_.x_.data(),
         .direction = mine.middle,
         .curvature = part == spmv::RowSet::all ? mine.own : intersection(mine.own, grid.inner())},
        sum, pause);
  else
    for (const GridBox& box : method_.surface_)
      for (const GridBox& share : spmv::share_of_rows(box, thread.index, thread.count))
        spmv::add_curvature(grid.stencil(), grid.layout(), p, share, sum);
  sum.flush(method_.curvature_.part(thread.index));
}

void TwoPassCg::collective_advance(const TeamThread& thread, Columns columns) {
  Column& column = columns.front();
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    double* const p = p_->values();
    const spmv::DirectionStart z = start_of_direction();
    for (const GridBox& edge : slab(thread).edges) {
      spmv::update_solution(grid_.layout(), column.alpha, p, x_.data(), edge);
      spmv::renew_direction(grid_.layout(), column.beta, z, p, edge);
    }
    thread.barrier();
  }
  const FirstPass pass(*this, column, curvature_bound(thread, column));
  spmv::run_in_mode(thread, options().mode, {pass, *p_, op().comm_thread(), timer_});
  collective_reduce(thread, curvature_);
  column.curvature = collective_fit_curvature(thread, column, curvature_.result());
}

void TwoPassCg::collective_update_residual(const TeamThread& thread, Columns columns) {
  Column& column = columns.front();
  CloseSum r_dot_r(fitted(column).next<CloseSum>(thread, sum_rr, column.square()));
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    spmv::update_residual(grid_.stencil(), grid_.layout(), column.alpha, p_->values(), r_.data(),
                          slab(thread).own, r_dot_r);
  }
  collective_find_norms(thread, column, r_dot_r);
}

/// Slabs and segments do not end at the same rows.
void TwoPassCg::finish(const TeamThread& thread, const Column& column) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  spmv::update_solution(grid_.layout(), column.alpha, p_->values(), x_.data(), slab(thread).own);
  thread.barrier();
}

}  // namespace weft::solver
