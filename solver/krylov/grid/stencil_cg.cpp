#include "solver/krylov/grid/stencil_cg.h"

#include <algorithm>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"
#include "spmv/grid/shares.h"
#include "spmv/modes/apply_in_mode.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::CloseSum;
using spmv::GridBox;
using spmv::GridNeighbour;
using spmv::RowSet;

namespace {

/// The points of `inner` that are as far from its sides as those are from the sides of `own`.
GridBox further_in(const GridBox& own, const GridBox& inner) {
  GridBox deep;
  for (std::size_t d = 0; d < 3; ++d) {
    deep.begin[d] = 2 * inner.begin[d] - own.begin[d];
    deep.end[d] = std::max(2 * inner.end[d] - own.end[d], deep.begin[d]);
  }
  return deep;
}

}  // namespace

StencilCg::StencilCg(spmv::StencilOperator& op, Options options)
    : ReducedCg(op, std::move(options)),
      grid_(op),
      sums_(op.communicator(), op.comm_thread(), op.team().thread_count(), 2),
      r_(collective_make_operand()),
      slabs_(cut_into_slabs(op.inner(), op.inner(), op.team().thread_count())),
      surface_(spmv::shell(op.layout().own(), op.inner())),
      deep_(further_in(op.layout().own(), op.inner())),
      beside_(spmv::shell(op.layout().own(), deep_)) {
  p_ = make_array();
}

void StencilCg::start(const TeamThread& thread, std::span<const double> b) {
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::fill_n(x_.data() + i, count, 0.0);
    std::copy_n(b.data() + i, count, r_->values() + i);
  });
  thread.barrier();
}

void StencilCg::collective_begin_again(const TeamThread& thread, std::span<const double> b) {
  double* const r = r_->values();
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::copy_n(x_.data() + i, count, r + i); });
  op().apply(thread, options().mode, *r_, p_.data(), timer_, {});
  thread.barrier();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    for (std::size_t j = i; j < i + static_cast<std::size_t>(count); ++j) r[j] = b[j] - p_[j];
  });
  thread.barrier();
}

/// p = 0, ghost points as well. Every thread.
void StencilCg::forget_direction(const TeamThread& thread) {
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::fill_n(p_.data() + i, count, 0.0); });
  for (const GridNeighbour& neighbour : grid_.halo_neighbours())
    for (const GridBox& box : spmv::share_of_rows(neighbour.received, thread.index, thread.count))
      grid_.layout().fill(p_.data(), box, 0.0);
  thread.barrier();
}

ReducedCg::Step StencilCg::collective_next_step(const TeamThread& thread, const State& state) {
  if (!state.has_direction) {  // the sums come with the pass otherwise
    spmv::BinnedSum r_dot_r(state.r_square);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_square(r_->values() + i, count, r_dot_r);
    });
    r_dot_r.flush(sums_.part(thread.index, 0));
    op().apply(thread, options().mode, *r_, p_.data(), timer_,
               {&sums_.part(thread.index, 1), op().collective_norm() * state.r_square});
  }
  {
    const PhaseScope scope(timer_, thread.index, Phase::reduction);
    sums_.collective_reduce(thread);
  }
  if (!state.has_direction) forget_direction(thread);
  return step_from(state, sums_.result(0), sums_.result(0), sums_.result(1));
}

void StencilCg::Pass::multiply_in_pieces(RowSet set, const TeamThread& thread, const double* r,
                                         double* /*unused*/, spmv::RowSum r_dot_ar,
                                         const std::function<void()>& pause) const {
  const spmv::StencilOperator& grid = method_.grid_;
  CloseSum sum(r_dot_ar.bound);
  if (set != RowSet::boundary) {
    const GridSlab& mine = method_.slab(thread);
    spmv::advance_in_one_pass(grid.stencil(), grid.layout(),
                              {.alpha = step_.alpha,
                               .beta = beta_,
                               .r = method_.r_->values(),
                               .p = method_.p_.data(),
                               .x = method_.x_.data(),
                               .direction = intersection(mine.middle, method_.deep_),
                               .update = mine.own,
                               .curvature = mine.middle},
                              r_dot_r_, sum, pause);
    thread.barrier();
    for (const GridBox& edge : mine.edges)
      spmv::add_half_curvature(grid.stencil(), grid.layout(), r, edge, sum);
  }
  if (set != RowSet::interior)
    for (const GridBox& box : method_.surface_)
      for (const GridBox& part : spmv::share_of_rows(box, thread.index, thread.count))
        spmv::add_half_curvature(grid.stencil(), grid.layout(), r, part, sum);
  sum.flush(*r_dot_ar.part);
}

void StencilCg::collective_advance(const TeamThread& thread, const State& state, const Step& step) {
  const double beta = state.has_direction ? step.beta : 0;
  double* const r = r_->values();
  CloseSum r_dot_r(step.r_square);
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    const auto renew = [&](const GridBox& box) {
      spmv::renew_direction(grid_.layout(), beta, r, p_.data(), box);
    };
    const auto for_my_rows = [&](const GridBox& box, const auto& work) {
      for (const GridBox& part : spmv::share_of_rows(box, thread.index, thread.count)) work(part);
    };
    for (const GridNeighbour& neighbour : grid_.halo_neighbours())
      for_my_rows(neighbour.received, renew);
    for (const GridBox& box : beside_) for_my_rows(box, renew);
    for (const GridBox& edge : slab(thread).edges) renew(intersection(edge, deep_));
    thread.barrier();
    if (!surface_.empty()) {
      CloseSum unused(0);
      for (const GridBox& box : surface_)
        for_my_rows(box, [&](const GridBox& part) {
          spmv::advance_in_one_pass(grid_.stencil(), grid_.layout(),
                                    {.alpha = step.alpha,
                                     .beta = beta,
                                     .r = r,
                                     .p = p_.data(),
                                     .x = x_.data(),
                                     .direction = {},
                                     .update = part,
                                     .curvature = {}},
                                    r_dot_r, unused, {});
        });
      thread.barrier();
    }
  }
  spmv::apply_in_mode(
      thread, options().mode,
      {.rows = Pass(*this, step, beta, r_dot_r),
       .comm_thread = op().comm_thread(),
       .x = *r_,
       .y = nullptr,
       .timer = timer_,
       .x_dot_y = {&sums_.part(thread.index, 1), op().collective_norm() * step.r_square}});
  r_dot_r.flush(sums_.part(thread.index, 0));
}

}  // namespace weft::solver
