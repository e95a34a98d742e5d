#include "solver/multigrid/multigrid_method.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/traffic_model.h"
#include "solver/levels/run_cycle.h"
#include "solver/multigrid/cycle_options.h"
#include "solver/multigrid/full_start.h"
#include "solver/multigrid/grid_cycle.h"
#include "solver/multigrid/grid_gathering.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/grids/chebyshev.h"
#include "solver/multigrid/grids/rim.h"
#include "solver/multigrid/grids/turned_grid.h"
#include "solver/multigrid/level_plan.h"
#include "solver/precondition/solve_unit.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/shares.h"
#include "spmv/modes/run_in_mode.h"
#include "spmv/modes/work.h"

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

/// The method with a hierarchy whose values are float or double.
///
///     down   r = b − A·x, smoothing, restriction     reads x, b; writes r and the smoothed x̂  32
///     up     interpolation, smoothing to z,
///            d = β·d + α·z, x += d                   reads r, x̂, d, x; writes d, x            32
///
/// 64 bytes a row and iteration with write-allocate in single precision, 96 in double precision: x
/// and b are double in any case.
template <class Value>
class MultigridMethodOf final : public MultigridMethod {
 public:
  MultigridMethodOf(spmv::StencilOperator& op, Options options);

  LevelsReport report() override;
  void forget_times() override { cycle_->forget_times(); }

 private:
  Spare spare() override { return {nullptr, nullptr}; }
  void collective_find_true_norms(const comm_thread::TeamThread&, Solves solves) override {
    solves.front().true_norm = norm_;
  }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  void collective_iterate(const comm_thread::TeamThread& thread, Solves solves) override;
  std::unique_ptr<GridCycle<Value>> collective_make(const spmv::StencilOperator& op);
  /// x of the grid, from x of the operator; and back. Every thread; both end with a barrier.
  void turn_solution(const comm_thread::TeamThread& thread);
  void turn_solution_back(const comm_thread::TeamThread& thread);
  double* solution_on_grid() { return grid_.is_turned() ? turned_x_.data() : x_.data(); }
  std::vector<double*> carried() override { return {x_.data(), direction_copy_.data()}; }
  /// What the iteration carries between two cycles, besides x and the direction.
  struct Carried {
    double norm = 0;
    double factor = 1;  // by which the last iteration has reduced the residual
    double rho = 0;  // of the semi-iteration
    double unit = 1;  // of the direction, see SolveUnit
  };
  void collective_carry_all(const comm_thread::TeamThread& thread, Carry direction, Solve& solve,
                            Carried& scalars);
  /// `unit`: by which the residual is multiplied.
  FinestResidual residual(double unit = 1);
  bool collective_descend(const comm_thread::TeamThread& thread, const FinestResidual& finest,
                          Carried& state, Solve& solve);
  double collective_norm(const comm_thread::TeamThread& thread, spmv::CloseSum& square);
  /// ‖b − A·x‖ in a pass of its own.
  double collective_measure(const comm_thread::TeamThread& thread, double bound);

  const spmv::GridLayout& given_layout_;  // of the operator
  TurnedGrid grid_;
  std::unique_ptr<GridCycle<Value>> cycle_;
  std::optional<FullStart<Value>> full_start_;
  comm_thread::ReproducibleSum squares_;
  GridArray<Value> direction_;
  Array direction_copy_;  // in the shape of the operator, for checkpoints
  double norm_ = 0;  // ‖b − A·x‖, last

  const spmv::GridLayout& layout_;  // of b and x on the grid
  const double* b_ = nullptr;
  Array turned_b_;  // where the grid is turned
  Array turned_x_;

  // With other ranks, whose values the passes read several points deep.
  std::vector<RimPart> rim_;
  Array b_with_halo_;  // one point deep, for a full start
  std::optional<BoxExchange<double>> b_halo_;
  std::optional<BoxExchange<double>> x_halo_;
};

template <class Value>
std::unique_ptr<GridCycle<Value>> MultigridMethodOf<Value>::collective_make(
    const spmv::StencilOperator& op) {
  const MultigridSettings& asked = options().multigrid;
  const CycleOptions chosen =
      collective_with_gathering(op.crew(), grid_.stencil(), grid_.partition(),
                                {.steps = asked.steps,
                                 .least_points = asked.least_points,
                                 .has_full_start = asked.has_full_start,
                                 .is_double = asked.is_double,
                                 .mode = options().mode});
  return std::make_unique<GridCycle<Value>>(
      op.crew(),
      plan_constant<Value>(grid_.stencil(), grid_.partition(), chosen.least_points).levels, chosen,
      timer_);
}

template <class Value>
MultigridMethodOf<Value>::MultigridMethodOf(spmv::StencilOperator& op, Options options)
    : MultigridMethod(op, std::move(options)),
      given_layout_(op.layout()),
      grid_(op.stencil(), op.partition(), op.communicator().rank()),
      cycle_(collective_make(op)),
      squares_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      direction_(grid_.layout().own(), 0),
      layout_(grid_.is_turned() ? grid_.layout() : op.layout()) {
  if (grid_.is_turned()) {
    turned_b_ = Array(layout_.element_count());
    turned_x_ = Array(layout_.element_count());
  }
  if (this->options().multigrid.has_full_start) full_start_.emplace(*cycle_);
  if (this->options().checkpoints) direction_copy_ = make_array();
  if (op.communicator().size() == 1) return;
  const GridBox domain = grid_.partition().domain();
  const GridBox& own = layout_.own();
  rim_ = make_rim(own, cycle_->depth(), domain);
  using Target = BoxExchange<double>::Target;
  std::vector<Target> b_targets;
  std::vector<Target> x_targets{{grown(own, 1, domain), layout_, solution_on_grid()}};
  for (RimPart& part : rim_) {
    b_targets.push_back({part.points, part.layout, part.b.data()});
    x_targets.push_back({grown(part.points, 1, domain), part.layout, part.x.data()});
  }
  if (full_start_) {
    b_with_halo_ = Array(layout_.element_count());
    b_targets.push_back({grown(own, 1, domain), layout_, b_with_halo_.data()});
  }
  const LevelCuts cuts(grid_.partition());
  const auto make = [&](std::optional<BoxExchange<double>>& halo, double* values, int depth,
                        const std::vector<Target>& targets) {
    halo.emplace(op.communicator(), domain, BoxExchange<double>::Side{cuts, 0, layout_, values},
                 cuts, depth, targets, op.team().thread_count());
  };
  make(b_halo_, nullptr, cycle_->depth(), b_targets);
  make(x_halo_, solution_on_grid(), cycle_->depth() + 1, x_targets);
  op.communicator().barrier();  // both ends of every pair exist
}

template <class Value>
void MultigridMethodOf<Value>::collective_begin(const TeamThread& thread, const Solve& solve,
                                                const double* product) {
  const std::span<const double> b = solve.b;
  if (grid_.is_turned()) {
    grid_.turn(thread, given_layout_, b.data(), turned_b_.data());
    if (!product)  // x is 0
      for (const GridBox& box : spmv::share_of_rows(layout_.own(), thread.index, thread.count))
        layout_.fill(turned_x_.data(), box, 0);
    thread.barrier();
  }
  if (thread.is_primary()) b_ = grid_.is_turned() ? turned_b_.data() : b.data();
  if (b_halo_) {
    if (thread.is_primary()) b_halo_->read_from(b_);
    thread.barrier();
    b_halo_->collective_exchange(thread, op().comm_thread());
  }
  thread.barrier();
}

template <class Value>
void MultigridMethodOf<Value>::collective_carry_all(const TeamThread& thread, Carry direction,
                                                    Solve& solve, Carried& scalars) {
  const bool is_kept = direction == Carry::keep;
  const auto copy_direction = [&] {
    for (const GridBox& box : spmv::share_of_rows(layout_.own(), thread.index, thread.count))
      for (spmv::GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
        for (spmv::GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
          Value* const row = direction_.row(y, z);
          for (spmv::GlobalIndex x = box.begin[0]; x < box.end[0]; ++x) {
            double& copy = direction_copy_[grid_.index_in(given_layout_, {x, y, z})];
            if (is_kept)
              copy = static_cast<double>(row[x]);
            else
              row[x] = static_cast<Value>(copy);
          }
        }
  };
  if (is_kept) {
    copy_direction();
    turn_solution_back(thread);
  }
  collective_carry(thread, direction, solve,
                   {&scalars.norm, &scalars.factor, &scalars.rho, &scalars.unit}, carried());
  if (is_kept) return;
  copy_direction();
  turn_solution(thread);
}

template <class Value>
void MultigridMethodOf<Value>::turn_solution(const TeamThread& thread) {
  if (grid_.is_turned()) grid_.turn(thread, given_layout_, x_.data(), turned_x_.data());
  thread.barrier();
}

template <class Value>
void MultigridMethodOf<Value>::turn_solution_back(const TeamThread& thread) {
  thread.barrier();  // all of x is there
  if (!grid_.is_turned()) return;
  grid_.turn_back(thread, turned_x_.data(), given_layout_, x_.data());
  thread.barrier();
}

template <class Value>
FinestResidual MultigridMethodOf<Value>::residual(double unit) {
  return {grid_.stencil(), layout_, b_, solution_on_grid(), cycle_->finest().scale / unit, rim_};
}

template <class Value>
LevelsReport MultigridMethodOf<Value>::report() {
  LevelsReport report = cycle_->report();
  LevelReport& finest = report.levels.front();
  PassReport& down = finest.passes.front();
  down.exchanges.clear();
  down.sent_bytes = down.sent_messages = 0;
  if (x_halo_) down.add(*x_halo_, 1);
  std::size_t bytes =
      direction_.byte_count() + (turned_b_.size() + turned_x_.size()) * sizeof(double);
  if (full_start_) bytes += full_start_->byte_count();
  if (x_halo_)
    bytes +=
        b_with_halo_.size() * sizeof(double) + b_halo_->buffer_bytes() + x_halo_->buffer_bytes();
  for (const RimPart& part : rim_) bytes += (part.b.size() + part.x.size()) * sizeof(double);
  finest.allocated_bytes += static_cast<std::int64_t>(bytes);
  return report;
}

template <class Value>
double MultigridMethodOf<Value>::collective_norm(const TeamThread& thread, CloseSum& square) {
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  square.flush(squares_.part(thread.index));
  squares_.collective_reduce(thread);
  const double norm = std::sqrt(squares_.result());
  if (thread.is_primary()) norm_ = norm;
  return norm;
}

template <class Value>
double MultigridMethodOf<Value>::collective_measure(const TeamThread& thread, double bound) {
  CloseSum square(bound);
  const FinestResidual finest = residual();
  const spmv::WorkBy work(
      [&](RowSet part, const TeamThread& mine, const std::function<void()>& /*pause*/) {
        if (part == RowSet::interior) return;
        for (const GridBox& box : spmv::share_of_rows(layout_.own(), mine.index, mine.count))
          finest.add_square(box, square);
      });
  if (x_halo_)
    spmv::run_in_mode(thread, options().mode, {work, *x_halo_, op().comm_thread(), timer_});
  else {
    const PhaseScope scope(timer_, thread.index, Phase::local_part);
    work.run(RowSet::all, thread, {});
  }
  thread.barrier();
  return collective_norm(thread, square);
}

/// The residual, its norm, which is noted, and the cycle down from it. False where the solve ends.
template <class Value>
bool MultigridMethodOf<Value>::collective_descend(const TeamThread& thread,
                                                  const FinestResidual& finest, Carried& state,
                                                  Solve& solve) {
  if (x_halo_) x_halo_->copy_own(thread);
  const bool is_first = !solve.rule.has_first_norm();
  const double before = state.norm;
  Carried begun_state = state;  // what a checkpoint takes: it repeats the cycle down
  Solve begun = solve;
  const auto goes_on_with = [&](double norm) {
    if (is_first) {
      solve.know_first_norm(norm);
    } else {
      note(thread, norm, solve);
      if (is_checkpoint_due(solve.report))
        collective_carry_all(thread, Carry::keep, begun, begun_state);
    }
    state.norm = norm;
    state.factor = is_first ? 1 : norm / before;
    return solve.goes_on();
  };
  const bool is_near =
      !is_first && before * state.factor < expected_margin * solve.rule.wanted_norm();
  if (is_near && !goes_on_with(collective_measure(thread, before * before))) return false;
  CloseSum square(before * before);
  cycle_->collective_descend(thread,
                             {.residual = &finest,
                              .copy = &cycle_->right_hand_side(),
                              .square = is_near ? nullptr : &square},
                             x_halo_ && !is_near ? &*x_halo_ : nullptr);
  return is_near || goes_on_with(collective_norm(thread, square));
}

template <class Value>
void MultigridMethodOf<Value>::collective_iterate(const TeamThread& thread, Solves solves) {
  Solve& solve = solves.front();
  const double bound = solve.bound;
  SemiIteration outer(cycle_->least_eigenvalue(), 1);
  const double largest = std::sqrt(bound / static_cast<double>(op().global_row_count()));
  Carried state{.norm = std::sqrt(bound),
                .factor = 1,
                .rho = outer.carried(),
                .unit = SolveUnit::of(largest, cycle_->finest().scale)};
  if (is_continued()) {
    collective_carry_all(thread, Carry::restore, solve, state);
    outer.carried() = state.rho;
  }
  const FinestResidual finest = residual(state.unit);
  // The finest grid's cycle of it is to come.
  bool is_start = full_start_ && !solve.rule.has_first_norm();
  if (is_start) {
    state.norm = collective_measure(thread, bound);
    solve.know_first_norm(state.norm);
    if (!solve.goes_on()) return;
    full_start_->collective_run(thread, layout_, b_halo_ ? b_with_halo_.data() : b_, state.unit,
                                solution_on_grid());
  }
  while (collective_descend(thread, finest, state, solve)) {
    // A full start ends with a whole cycle: its errors are smooth, which a step of the outer
    // iteration, longer than one, would overcorrect.
    const SemiIteration::Step step = is_start ? SemiIteration::Step{0, 1} : outer.next();
    is_start = false;
    state.rho = outer.carried();
    cycle_->collective_ascend(thread, {.layout = &layout_,
                                       .values = solution_on_grid(),
                                       .direction = &direction_,
                                       .old = step.old,
                                       .fresh = step.fresh,
                                       .factor = 1 / state.unit});
    ++solve.report.iterations;
  }
  turn_solution_back(thread);
}

}  // namespace

MethodNeeds MultigridMethod::needs(const MethodUse& use) {
  const MultigridSettings& settings = use.multigrid;
  return {.state = "multigrid(" + std::to_string(settings.steps) + "," +
                   std::to_string(settings.least_points) + (settings.is_double ? ",double)" : ")"),
          .arrays = use.rank_count > 1 ? 3.5 : 2.6,
          .carried = 2,
          .vector_bytes = 32 + 8.0 * (settings.is_double ? sizeof(double) : sizeof(float)),
          .flops_per_row = perfmodel::multigrid_flops(1, settings.steps),
          .flops_per_nonzero = 0};
}

std::unique_ptr<MultigridMethod> collective_make_multigrid_method(spmv::StencilOperator& op,
                                                                  KrylovMethod::Options options) {
  return with_precision(options.multigrid.is_double,
                        [&]<class Value>(Value) -> std::unique_ptr<MultigridMethod> {
                          return std::make_unique<MultigridMethodOf<Value>>(op, std::move(options));
                        });
}

}  // namespace weft::solver
