#include "solver/multigrid/multigrid_method.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/multigrid/cycle_choice.h"
#include "solver/multigrid/grids/chebyshev.h"
#include "solver/multigrid/level_plan.h"
#include "spmv/grid/shares.h"
#include "spmv/modes/run_in_mode.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::CloseSum;
using spmv::GridBox;
using spmv::RowSet;

namespace {

/// A residual that is expected to be below this much of what is wanted is measured on its own,
/// because a pass that smooths it as well would be for nothing.
constexpr double expected_margin = 1.2;

/// Of the messages: GridCycle counts its own from 2000.
constexpr int first_method_tag = 1000;

/// The squares of the residual, after its halo has arrived.
class SquareWork final : public spmv::Work {
 public:
  SquareWork(const FinestResidual& residual, const GridBox& own, CloseSum& square)
      : residual_(residual), own_(own), square_(square) {}
  void run(RowSet part, const TeamThread& thread, const std::function<void()>&) const override {
    if (part == RowSet::interior) return;
    for (const GridBox& box : spmv::share_of_rows(own_, thread.index, thread.count))
      residual_.add_square(box, square_);
  }

 private:
  const FinestResidual& residual_;
  const GridBox& own_;
  CloseSum& square_;
};

}  // namespace

std::unique_ptr<Cycle> MultigridMethod::collective_make(const spmv::StencilOperator& op) {
  const MultigridSettings& asked = options().multigrid;
  const Cycle::Options chosen = collective_with_gathering(op.communicator(), op.comm_thread(),
                                                          op.team(), op.stencil(), op.partition(),
                                                          {.steps = asked.steps,
                                                           .least_points = asked.least_points,
                                                           .has_full_start = asked.has_full_start,
                                                           .is_additive = asked.is_additive,
                                                           .mode = options().mode});
  return collective_make_cycle(
      op.communicator(), op.comm_thread(), op.team(),
      plan_constant(op.stencil(), op.partition(), chosen.least_points).levels, chosen, timer_);
}

MultigridMethod::MultigridMethod(spmv::StencilOperator& op, Options options)
    : KrylovMethod(op, std::move(options)),
      grid_(op),
      cycle_(collective_make(op)),
      squares_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      direction_(op.layout().own(), 0),
      layout_(op.communicator().size() > 1
                  ? spmv::GridLayout(op.layout().own(), cycle_->depth() + 1)
                  : op.layout()) {
  if (this->options().multigrid.has_full_start)
    full_start_.emplace(dynamic_cast<GridCycle&>(*cycle_));
  if (this->options().checkpoints) direction_copy_ = make_array();
  if (op.communicator().size() == 1) return;
  b_deep_ = Array(layout_.element_count());
  x_deep_ = Array(layout_.element_count());
  const LevelCuts cuts(op.partition());
  const auto make = [&](std::optional<BoxExchange<double>>& halo, Array& array, int depth,
                        int tag) {
    const BoxExchange<double>::Side side{cuts, depth, layout_, array.data()};
    halo.emplace(op.communicator(), op.partition().domain(), side, side, op.team().thread_count(),
                 tag);
  };
  make(b_halo_, b_deep_, cycle_->depth(), first_method_tag);
  make(x_halo_, x_deep_, cycle_->depth() + 1, first_method_tag + 1);
  op.communicator().barrier();  // both ends of every pair exist
}

void MultigridMethod::copy_rows(const TeamThread& thread, const spmv::GridLayout& from_layout,
                                const double* from, const spmv::GridLayout& to_layout,
                                double* to) const {
  for (const GridBox& box : spmv::share_of_rows(layout_.own(), thread.index, thread.count))
    for (spmv::GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
      for (spmv::GlobalIndex y = box.begin[1]; y < box.end[1]; ++y)
        std::copy_n(from + from_layout.index(box.begin[0], y, z), box.size(0),
                    to + to_layout.index(box.begin[0], y, z));
}

void MultigridMethod::collective_begin(const TeamThread& thread, std::span<const double> b,
                                       const double* /*product*/) {
  if (thread.is_primary()) {
    b_values_ = b_halo_ ? b_deep_.data() : b.data();
    x_values_ = x_halo_ ? x_deep_.data() : x_.data();
  }
  if (b_halo_) {
    copy_rows(thread, grid_.layout(), b.data(), layout_, b_deep_.data());
    copy_rows(thread, grid_.layout(), x_.data(), layout_, x_deep_.data());
    thread.barrier();
    b_halo_->pack(thread.index);
    thread.barrier();
    if (thread.is_primary() && !b_halo_->messages().is_empty())
      b_halo_->messages().post(op().comm_thread()).wait();
    thread.barrier();
    b_halo_->unpack(thread);
  }
  thread.barrier();
}

KrylovMethod::Recurrence MultigridMethod::recurrence() const {
  const MultigridSettings& settings = options().multigrid;
  return {"multigrid(" + std::to_string(settings.steps) + "," +
              std::to_string(settings.least_points) + (settings.is_additive ? ",additive)" : ")"),
          2};
}

void MultigridMethod::collective_carry_all(const TeamThread& thread, Carry direction,
                                           double& first_norm, SolveReport& report,
                                           Carried& carried) {
  const bool is_kept = direction == Carry::keep;
  const auto copy_direction = [&] {
    for (const GridBox& box : spmv::share_of_rows(layout_.own(), thread.index, thread.count))
      for (spmv::GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
        for (spmv::GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
          double* const copy = direction_copy_.data() + grid_.layout().index(box.begin[0], y, z);
          float* const row = direction_.row(y, z) + box.begin[0];
          for (spmv::GlobalIndex x = 0; x < box.size(0); ++x) {
            if (is_kept)
              copy[x] = static_cast<double>(row[x]);
            else
              row[x] = static_cast<float>(copy[x]);
          }
        }
  };
  if (is_kept) {
    copy_direction();
    if (x_halo_) copy_rows(thread, layout_, x_deep_.data(), grid_.layout(), x_.data());
  }
  collective_carry(thread, direction, first_norm, report,
                   {&carried.norm, &carried.factor, &carried.rho},
                   {x_.data(), direction_copy_.data()});
  if (is_kept) return;
  copy_direction();
  if (x_halo_) copy_rows(thread, grid_.layout(), x_.data(), layout_, x_deep_.data());
  thread.barrier();
}

FinestResidual MultigridMethod::residual() const {
  return {grid_.stencil(), layout_, b_values_, x_values_, cycle_->finest().scale};
}

CycleReport MultigridMethod::report() {
  CycleReport report = cycle_->report();
  PassReport& down = report.levels.front().down;
  down.sent_bytes = x_halo_ ? x_halo_->sent_bytes() : 0;
  down.sent_messages = x_halo_ ? x_halo_->sent_messages() : 0;
  down.halo = x_halo_ ? &*x_halo_ : nullptr;
  report.allocated_bytes += direction_.byte_count();
  if (full_start_) report.allocated_bytes += full_start_->byte_count();
  if (x_halo_)
    report.allocated_bytes += (b_deep_.size() + x_deep_.size()) * sizeof(double) +
                              b_halo_->buffer_bytes() + x_halo_->buffer_bytes();
  return report;
}

double MultigridMethod::collective_norm(const TeamThread& thread, CloseSum& square) {
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  square.flush(squares_.part(thread.index));
  squares_.collective_reduce(thread);
  const double norm = std::sqrt(squares_.result());
  if (thread.is_primary()) norm_ = norm;
  return norm;
}

double MultigridMethod::collective_measure(const TeamThread& thread, double bound) {
  CloseSum square(bound);
  const FinestResidual finest = residual();
  const SquareWork work(finest, layout_.own(), square);
  if (x_halo_)
    spmv::run_in_mode(thread, options().mode, {work, *x_halo_, op().comm_thread(), timer_});
  else {
    const PhaseScope scope(timer_, thread.index, Phase::local_part);
    work.run(RowSet::all, thread, {});
  }
  thread.barrier();
  return collective_norm(thread, square);
}

void MultigridMethod::collective_iterate(const TeamThread& thread, std::span<const double> /*b*/,
                                         double bound, double& first_norm, SolveReport& report) {
  SemiIteration outer(cycle_->least_eigenvalue(), 1);
  const FinestResidual finest = residual();
  double norm = std::sqrt(bound);
  double factor = 1;  // by which the last iteration has reduced the residual
  if (is_continued()) {
    Carried carried;
    collective_carry_all(thread, Carry::restore, first_norm, report, carried);
    norm = carried.norm;
    factor = carried.factor;
    outer.carried() = carried.rho;
  }
  bool is_start = full_start_ && first_norm < 0;  // the finest grid's cycle of it is to come
  if (is_start) {
    norm = collective_measure(thread, bound);
    first_norm = norm;
    report = start_report(norm * norm, bound);
    if (report.status != SolveStatus::not_converged ||
        report.iterations >= options().stop.max_iterations)
      return;
    full_start_->collective_run(thread, layout_, b_values_, x_values_);
  }
  while (true) {
    const bool is_first = first_norm < 0;
    const double wanted = options().stop.wanted_norm(first_norm);
    const double before = norm;
    spmv::Halo* halo = x_halo_ ? &*x_halo_ : nullptr;
    Carried carried{.norm = norm, .factor = factor, .rho = outer.carried()};
    SolveReport begun;  // what a checkpoint takes: it repeats the cycle down
    if (options().checkpoints) begun = report;
    const auto note_norm = [&] {
      if (is_first) {
        first_norm = norm;
        report = start_report(norm * norm, bound);
        factor = 1;
      } else {
        note(thread, norm, first_norm, report);
        if (is_checkpoint_due(report))
          collective_carry_all(thread, Carry::keep, first_norm, begun, carried);
        factor = norm / before;
      }
      return report.status != SolveStatus::not_converged ||
             report.iterations >= options().stop.max_iterations;
    };
    bool is_known = false;
    if (!is_first && before * factor < expected_margin * wanted) {
      norm = collective_measure(thread, before * before);
      if (note_norm()) break;
      halo = nullptr;
      is_known = true;
    }
    CloseSum square(before * before);
    cycle_->collective_descend(thread,
                               {.residual = &finest,
                                .copy = &cycle_->right_hand_side(),
                                .square = is_known ? nullptr : &square},
                               halo);
    if (!is_known) {
      norm = collective_norm(thread, square);
      if (note_norm()) break;
    }
    // A full start ends with a whole cycle: its errors are smooth, which a step of the outer
    // iteration, longer than one, would overcorrect.
    const SemiIteration::Step step = is_start ? SemiIteration::Step{0, 1} : outer.next();
    is_start = false;
    cycle_->collective_ascend(thread, {.layout = &layout_,
                                       .values = x_values_,
                                       .direction = &direction_,
                                       .old = step.old,
                                       .fresh = step.fresh});
    ++report.iterations;
  }
  if (x_halo_) copy_rows(thread, layout_, x_deep_.data(), grid_.layout(), x_.data());
  thread.barrier();
}

}  // namespace weft::solver
