#include "solver/krylov/grid/stencil_cg.h"

#include <algorithm>
#include <array>
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

/// Nothing to do while a halo travels.
class NoWork final : public spmv::Work {
 public:
  void run(RowSet, const TeamThread&, const std::function<void()>&) const override {}
};

}  // namespace

StencilCg::StencilCg(spmv::StencilOperator& op, Options options)
    : ReducedCg(op, std::move(options), 2),  // r·r, r·A·r
      grid_(op),
      r_(collective_make_operand()),
      slabs_(cut_into_slabs(op.inner(), op.inner(), op.team().thread_count())),
      surface_(spmv::shell(op.layout().own(), op.inner())),
      deep_(further_in(op.layout().own(), op.inner())),
      beside_(spmv::shell(op.layout().own(), deep_)) {
  p_ = make_array();
}

void StencilCg::collective_begin(const TeamThread& thread, const Solve& solve,
                                 const double* product) {
  subtract(thread, solve.b, product, r_->values());
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

/// The ghost points of r.
void StencilCg::collective_exchange_r(const TeamThread& thread) {
  spmv::run_in_mode(thread, options().mode, {NoWork(), *r_, op().comm_thread(), timer_});
  thread.barrier();
}

/// The ghost points of p come as those of r, the only operand, so that p is there at first.
void StencilCg::collective_complete(const TeamThread& thread) {
  double* const r = r_->values();
  const auto exchange_places = [&] {
    for_each_element(thread, [&](std::size_t i) { std::swap(r[i], p_[i]); });
    thread.barrier();
  };
  exchange_places();
  collective_exchange_r(thread);
  for (const GridNeighbour& neighbour : grid_.halo_neighbours())
    for (const GridBox& box : spmv::share_of_rows(neighbour.received, thread.index, thread.count))
      for (spmv::GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
        for (spmv::GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
          const std::size_t row = grid_.layout().index(box.begin[0], y, z);
          std::copy_n(r + row, box.size(0), p_.data() + row);
        }
  exchange_places();
  collective_exchange_r(thread);
}

ReducedCg::Step StencilCg::collective_next_step(const TeamThread& thread, const State& state) {
  if (!state.has_direction) {  // the sums come with the pass otherwise
    spmv::BinnedSum r_dot_r(fitted_.next<spmv::BinnedSum>(thread, 0, state.r_square));
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_square(r_->values() + i, count, r_dot_r);
    });
    r_dot_r.flush(sums_.part(thread.index));
    collective_multiply(thread, *r_, p_.data(),
                        {&sums_.part(thread.index, 1), op().collective_norm() * state.r_square});
  }
  collective_reduce(thread, sums_);
  std::array<double, 1> square{sums_.result()};
  double curvature = sums_.result(1);
  const bool is_exceeded = fitted_.collective_fit(
      thread, square, [r = r_->values()](std::size_t, std::size_t i) { return r[i] * r[i]; });
  if (is_exceeded) curvature = collective_curvature(thread, square[0]);
  if (!state.has_direction) forget_direction(thread);
  return step_from(state, square[0], square[0], curvature);
}

/// r·A·r once more, as r·r = `r_square` is far above the square it was bounded with.
double StencilCg::collective_curvature(const TeamThread& thread, double r_square) {
  const double bound = op().collective_norm() * r_square;
  CloseSum sum(bound);
  for (const GridBox& share : spmv::share_of_rows(grid_.layout().own(), thread.index, thread.count))
    spmv::add_curvature(grid_.stencil(), grid_.layout(), r_->values(), share, sum);
  sum.flush(extra_sum().part(thread.index));
  extra_sum().collective_reduce(thread);
  return extra_sum().result();
}

void StencilCg::Pass::run(RowSet part, const TeamThread& thread,
                          const std::function<void()>& pause) const {
  const spmv::StencilOperator& grid = method_.grid_;
  double* const r = method_.r_->values();
  CloseSum sum(grid.collective_norm() * step_.r_square);
  if (part != RowSet::boundary) {
    const GridSlab& mine = method_.slab(thread);
    spmv::advance_in_one_pass(grid.stencil(), grid.layout(),
                              {.alpha = step_.alpha,
                               .beta = beta_,
                               .r = r,
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
  if (part != RowSet::interior)
    for (const GridBox& box : method_.surface_)
      for (const GridBox& share : spmv::share_of_rows(box, thread.index, thread.count))
        spmv::add_half_curvature(grid.stencil(), grid.layout(), r, share, sum);
  sum.flush(method_.sums_.part(thread.index, 1));
}

void StencilCg::collective_advance(const TeamThread& thread, const State& state, const Step& step) {
  const double beta = state.has_direction ? step.beta : 0;
  double* const r = r_->values();
  CloseSum r_dot_r(fitted_.next<CloseSum>(thread, 0, step.r_square));
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    const auto renew = [&](const GridBox& box) {
      spmv::renew_direction(grid_.layout(), beta, {.r = r}, p_.data(), box);
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
  spmv::run_in_mode(thread, options().mode,
                    {Pass(*this, step, beta, r_dot_r), *r_, op().comm_thread(), timer_});
  r_dot_r.flush(sums_.part(thread.index, 0));
}

}  // namespace weft::solver
