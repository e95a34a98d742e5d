#include "solver/multigrid/sweepers/multigrid_sweeper.h"

#include <utility>

#include "solver/multigrid/level_plan.h"
#include "spmv/grid/shares.h"

namespace weft::solver {

using comm_thread::ExactAccumulator;
using comm_thread::TeamThread;
using spmv::CloseSum;
using spmv::GlobalIndex;
using spmv::GridBox;
using spmv::RowSet;

MultigridSweeper::MultigridSweeper(spmv::StencilOperator& op, std::span<const double> b,
                                   const Options& options)
    : values_(op, b, DownPass<float>::depth(options.steps) + 1),
      z_(op.layout().own(), 1),
      new_values_(values_.layout().element_count()),
      squares_(static_cast<std::size_t>(op.team().thread_count()), CloseSum(1)),
      bound_(values_.collective_b_square()) {
  const GridCycle<float>::Options cycle{.steps = options.steps, .mode = options.mode};
  auto plan = plan_constant<float>(op.stencil(), op.partition(), cycle.least_points).levels;
  if (options.cycle == Cycle::additive) {
    additive_.emplace(op.communicator(), op.comm_thread(), op.team(), std::move(plan), cycle,
                      timer_);
    scale_ = additive_->finest().scale;
  } else {
    multiplicative_.emplace(op.communicator(), op.comm_thread(), op.team(), std::move(plan), cycle,
                            timer_);
    scale_ = multiplicative_->finest().scale;
  }
}

void MultigridSweeper::pack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                            std::span<double> out) const {
  const double* const from = state == SweepState::current ? values_.x() : values_.recorded();
  values_.pack(thread, from, values_.boxes()[neighbour].sent, out);
}

void MultigridSweeper::unpack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                              std::span<const double> in) {
  double* const to = state == SweepState::current ? values_.x() : values_.recorded();
  values_.unpack(thread, to, values_.boxes()[neighbour].received, in);
}

FinestResidual MultigridSweeper::residual(const double* x) const {
  return {values_.op().stencil(), values_.layout(), values_.b(), x, scale_};
}

void MultigridSweeper::sweep(const TeamThread& thread, SweepPart part,
                             ExactAccumulator* residual_square) {
  const FinestResidual finest = residual(values_.x());
  CloseSum& square = squares_[static_cast<std::size_t>(thread.index)];
  if (part != SweepPart::boundary) square = CloseSum(bound_);
  CloseSum* const counted = residual_square ? &square : nullptr;
  if (additive_) {
    const DownPass<float>::Source source{
        .residual = &finest, .copy = &additive_->right_hand_side(), .square = counted};
    if (part == SweepPart::interior) return additive_->begin(thread, source);
    const RowSet left = part == SweepPart::boundary ? RowSet::boundary : RowSet::all;
    additive_->collective_descend(thread, source, nullptr, left);
    additive_->collective_ascend(thread, {.array = &z_});
  } else {
    if (part == SweepPart::interior) return;
    multiplicative_->collective_descend(
        thread,
        {.residual = &finest, .copy = &multiplicative_->right_hand_side(), .square = counted},
        nullptr);
    multiplicative_->collective_ascend(thread, {.array = &z_});
  }
  if (residual_square) square.flush(*residual_square);
  make_new_values(thread);
}

void MultigridSweeper::make_new_values(const TeamThread& thread) {
  const GridBox& own = values_.layout().own();
  for (const GridBox& box : spmv::share_of_rows(own, thread.index, thread.count))
    for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
      for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
        const std::size_t first = values_.layout().index(box.begin[0], y, z);
        const double* const x = values_.x() + first;
        const float* const correction = z_.row(y, z) + box.begin[0];
        double* const out = new_values_.data() + first;
#pragma omp simd
        for (GlobalIndex i = 0; i < box.size(0); ++i)
          out[i] = x[i] + relaxation * static_cast<double>(correction[i]);
      }
}

void MultigridSweeper::finish_sweep() { values_.swap_values(new_values_); }

void MultigridSweeper::save(const TeamThread& thread, const PackedRows& rows,
                            std::size_t /*vector*/, double* packed) {
  rows.pack(thread, values_.x(), packed);
}

void MultigridSweeper::load(const TeamThread& thread, const PackedRows& rows,
                            std::size_t /*vector*/, const double* packed, std::int64_t /*sweep*/) {
  rows.unpack(thread, packed, values_.x());
}

void MultigridSweeper::add_residual(const TeamThread& thread, SweepState state,
                                    ExactAccumulator& residual_square) {
  const FinestResidual finest =
      residual(state == SweepState::current ? values_.x() : values_.recorded());
  CloseSum square(bound_);
  for (const GridBox& box : spmv::share_of_rows(values_.layout().own(), thread.index, thread.count))
    finest.add_square(box, square);
  square.flush(residual_square);
}

}  // namespace weft::solver
