#include "solver/stencil_cg.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "solver/fused_vector_kernels.h"
#include "spmv/grid_shares.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::CloseSum;
using spmv::GridBox;
using spmv::GridNeighbour;

StencilCg::StencilCg(spmv::StencilOperator& op, Options options)
    : ReducedCg(op, std::move(options)),
      grid_(op),
      sums_(op.communicator(), op.comm_thread(), op.team().thread_count(), 2),
      r_(collective_make_operand()),
      slabs_(cut_into_slabs(op.layout().own(), op.layout().own(), op.team().thread_count())),
      surface_(spmv::shell(op.layout().own(), op.inner())) {
  p_ = make_array();
}

void StencilCg::start(const TeamThread& thread, std::span<const double> b) {
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::fill_n(x_.data() + i, count, 0.0);
    std::copy_n(b.data() + i, count, r_->values() + i);
  });
  begin(thread);
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
  begin(thread);
}

/// No direction. Every thread.
void StencilCg::begin(const TeamThread& thread) {
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::fill_n(p_.data() + i, count, 0.0); });
  for (const GridNeighbour& neighbour : grid_.halo_neighbours())
    for (const GridBox& box : spmv::share_of_rows(neighbour.received, thread.index, thread.count))
      grid_.layout().fill(p_.data(), box, 0.0);
  thread.barrier();
}

void StencilCg::add_curvature(const GridBox& box, CloseSum& r_dot_ar) {
  spmv::add_curvature(grid_.stencil(), grid_.layout(), r_->values(), box, r_dot_ar);
}

/// Brings the halo of r and adds r·A·r where the pass could not. Every thread.
void StencilCg::exchange_while(const TeamThread& thread, CloseSum& r_dot_ar) {
  auto& exchange = r_->exchange();
  std::optional<comm_thread::Pending> halo;
  if (exchange.has_neighbours()) {
    const PhaseScope scope(timer_, thread.index, Phase::pack);
    r_->pack(thread.index);
    thread.barrier();
    if (thread.is_primary()) {
      halo = options().mode == spmv::Mode::task ? exchange.post(op().comm_thread())
                                                : exchange.start_here(op().comm_thread());
      if (options().mode == spmv::Mode::task) halo->let_begin();
    }
  } else {
    thread.barrier();
  }
  if (exchange.has_neighbours() && options().mode == spmv::Mode::vector) {
    const PhaseScope scope(timer_, thread.index, Phase::halo_wait);
    if (halo) halo->wait();
    thread.barrier();
  }
  {
    const PhaseScope scope(timer_, thread.index, Phase::local_part);
    for (const GridBox& edge : slab(thread).edges) {
      add_curvature(intersection(edge, grid_.inner()), r_dot_ar);
      if (halo && options().mode == spmv::Mode::overlap_test) halo->test();
    }
  }
  if (!exchange.has_neighbours()) return;
  {
    const PhaseScope scope(timer_, thread.index, Phase::halo_wait);
    if (halo) halo->wait();
    thread.barrier();
    r_->unpack(thread);
  }
  const PhaseScope scope(timer_, thread.index, Phase::boundary_part);
  for (const GridBox& box : surface_)
    for (const GridBox& mine : spmv::share_of_rows(box, thread.index, thread.count))
      add_curvature(mine, r_dot_ar);
}

ReducedCg::Step StencilCg::collective_next_step(const TeamThread& thread, const State& state) {
  if (!state.has_direction) {  // the sums come with the pass otherwise
    spmv::BinnedSum r_dot_r(state.r_square);
    CloseSum r_dot_ar(op().collective_norm() * state.r_square);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_square(r_->values() + i, count, r_dot_r);
    });
    add_curvature(intersection(slab(thread).middle, grid_.inner()), r_dot_ar);
    exchange_while(thread, r_dot_ar);
    r_dot_r.flush(sums_.part(thread.index, 0));
    r_dot_ar.flush(sums_.part(thread.index, 1));
  }
  {
    const PhaseScope scope(timer_, thread.index, Phase::reduction);
    sums_.collective_reduce(thread);
  }
  return step_from(state, sums_.result(0), sums_.result(0), sums_.result(1));
}

void StencilCg::collective_advance(const TeamThread& thread, const State& state, const Step& step) {
  const double beta = state.has_direction ? step.beta : 0;
  const GridSlab& mine = slab(thread);
  double* const r = r_->values();
  CloseSum r_dot_r(step.r_square);
  CloseSum r_dot_ar(op().collective_norm() * step.r_square);
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    for (const GridNeighbour& neighbour : grid_.halo_neighbours())
      for (const GridBox& box : spmv::share_of_rows(neighbour.received, thread.index, thread.count))
        spmv::renew_direction(grid_.layout(), beta, r, p_.data(), box);
    for (const GridBox& edge : mine.edges)
      spmv::renew_direction(grid_.layout(), beta, r, p_.data(), edge);
    thread.barrier();
    spmv::advance_in_one_pass(grid_.stencil(), grid_.layout(),
                              {.alpha = step.alpha,
                               .beta = beta,
                               .r = r,
                               .p = p_.data(),
                               .x = x_.data(),
                               .direction = mine.middle,
                               .update = mine.own,
                               .curvature = intersection(mine.middle, grid_.inner())},
                              r_dot_r, r_dot_ar);
  }
  thread.barrier();
  exchange_while(thread, r_dot_ar);
  r_dot_r.flush(sums_.part(thread.index, 0));
  r_dot_ar.flush(sums_.part(thread.index, 1));
}

}  // namespace weft::solver
