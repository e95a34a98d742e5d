#include "solver/multigrid/grid_cycle.h"

#include <functional>
#include <string>
#include <utility>

#include "perfmodel/thread_trace.h"
#include "solver/levels/run_cycle.h"
#include "solver/multigrid/cycle_bounds.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/passes/pass_model.h"
#include "solver/multigrid/passes/tiles.h"
#include "spmv/grid/grid_box.h"
#include "spmv/modes/work.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::ThreadTrace;
using spmv::GridBox;
using spmv::RowSet;

/// Adds the time from its construction to its end to `pass`, and records it in a trace. Thread:
/// every thread of the team; only the primary one is timed.
template <class Value>
class GridCycle<Value>::TimedPass {
 public:
  TimedPass(const perfmodel::PhaseTimer& timer, const TeamThread& thread, PassReport& pass,
            const char* name)
      : timer_(timer), pass_(pass), name_(name), is_timed_(thread.is_primary()) {
    if (!is_timed_) return;
    waited_ = timer_.times()[perfmodel::Phase::halo_wait];
    begin_ = ThreadTrace::now();
  }
  ~TimedPass() {
    if (!is_timed_) return;
    const std::int64_t end = ThreadTrace::now();
    pass_.seconds += 1e-9 * static_cast<double>(end - begin_);
    pass_.halo_wait_seconds += timer_.times()[perfmodel::Phase::halo_wait] - waited_;
    if (ThreadTrace* const trace = ThreadTrace::of_this_thread())
      trace->record(name_, ThreadTrace::Kind::overlapping, begin_, end);
  }
  TimedPass(const TimedPass&) = delete;
  TimedPass& operator=(const TimedPass&) = delete;

 private:
  const perfmodel::PhaseTimer& timer_;
  PassReport& pass_;
  const char* name_;
  bool is_timed_;
  double waited_ = 0;
  std::int64_t begin_ = 0;
};

template <class Value>
GridCycle<Value>::GridCycle(const comm_thread::Crew& crew, std::vector<LevelPlan<Value>> plan,
                            const CycleOptions& options, perfmodel::PhaseTimer& timer)
    : grids_(crew, std::move(plan), options, timer), times_(grids_.levels().size()) {
  const auto levels = grids_.levels();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool is_last = i + 1 == levels.size();
    const std::string number = std::to_string(i);
    times_[i].down_name =
        perfmodel::kept_name(is_last ? "coarsest grid" : "grid " + number + " down");
    times_[i].up_name = perfmodel::kept_name("grid " + number + " up");
    if (!is_last)
      times_[i].coarse_share = static_cast<double>(levels[i + 1].grid.point_count()) /
                               static_cast<double>(levels[i].grid.point_count());
  }
}

template <class Value>
double GridCycle<Value>::least_eigenvalue() const {
  std::vector<GridLevel> grids;
  for (const auto& level : grids_.levels()) grids.push_back(level.grid);
  return least_eigenvalue_of_cycle(grids, grids_.options().steps);
}

template <class Value>
void GridCycle<Value>::descend_from(const TeamThread& thread, std::size_t index,
                                    const typename DownPass<Value>::Source& source,
                                    spmv::Halo* halo) {
  typename CycleGrids<Value>::Level& level = grids_.levels()[index];
  LevelTimes& times = times_[index];
  const TimedPass timed(grids_.timer(), thread, times.down, times.down_name);
  const bool is_last = index + 1 == grids_.levels().size();
  if (thread.is_primary() && !is_last)
    times.down.model_bytes =
        bytes_of_down_pass<Value>(source, times.coarse_share, !level.x.is_empty()) +
        level.coupling_bytes();
  if (halo == &*level.f_halo && index > 0) level.f_halo->copy_own(thread);
  const spmv::WorkBy work(
      [&](RowSet part, const TeamThread& mine, const std::function<void()>& pause) {
        if (is_last) return grids_.solve_coarsest(part, mine);
        GridArray<Value>& coarse = grids_.levels()[index + 1].restriction_target();
        for_each_tile(level.down, part, mine, [&](const PassTile& tile) {
          level.down_pass->run(tile, source, level.x, coarse, grids_.memory(mine), pause);
        });
      });
  grids_.collective_run(thread, work, halo);
}

template <class Value>
void GridCycle<Value>::ascend_to(const TeamThread& thread, std::size_t index,
                                 const typename UpPass<Value>::Sink& sink) {
  typename CycleGrids<Value>::Level& level = grids_.levels()[index];
  LevelTimes& times = times_[index];
  BoxExchange<Value>& halo = *grids_.levels()[index + 1].e_halo;
  const TimedPass timed(grids_.timer(), thread, times.up, times.up_name);
  if (thread.is_primary())
    times.up.model_bytes = bytes_of_up_pass<Value>(sink, times.coarse_share, !level.x.is_empty()) +
                           level.coupling_bytes();
  halo.copy_own(thread);
  const spmv::WorkBy work(
      [&](RowSet part, const TeamThread& mine, const std::function<void()>& pause) {
        const GridArray<Value>& e = grids_.levels()[index + 1].interpolation_source();
        for_each_tile(level.up, part, mine, [&](const PassTile& tile) {
          level.up_pass->run(tile, level.f, level.x, e, sink, grids_.memory(mine), pause);
        });
      });
  grids_.collective_run(thread, work, &halo);
}

template <class Value>
void GridCycle<Value>::Steps::descend(std::size_t index, bool /*is_first*/) const {
  typename CycleGrids<Value>::Level& level = cycle.grids_.levels()[index];
  cycle.descend_from(thread, index, {.array = &level.f}, index > first ? &*level.f_halo : nullptr);
}

template <class Value>
void GridCycle<Value>::Steps::ascend(std::size_t index, bool /*is_last*/) const {
  cycle.ascend_to(thread, index, {.array = &cycle.grids_.levels()[index].e});
}

template <class Value>
void GridCycle<Value>::collective_ascend(const TeamThread& thread,
                                         const typename UpPass<Value>::Sink& sink) {
  run_cycle(Steps{*this, thread, 0}, 1);
  ascend_to(thread, 0, sink);
  if (thread.is_primary()) ++cycles_;
}

template <class Value>
LevelsReport GridCycle<Value>::report() {
  const auto levels = grids_.levels();
  LevelsReport report{.cycles = cycles_,
                      .steps = grids_.options().steps_on(0),
                      .coarse_steps = grids_.options().steps,
                      .is_double = sizeof(Value) == sizeof(double),
                      .gathering = grids_.options().gathering};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    typename CycleGrids<Value>::Level& level = levels[i];
    const GridBox points = level.grid.points();
    const std::int64_t own = level.cuts.box(grids_.crew().communicator().rank()).point_count();
    LevelReport& one = report.levels.emplace_back(
        LevelReport{.grid = {points.size(0), points.size(1), points.size(2)},
                    .rows = points.point_count(),
                    .is_direct = i + 1 == levels.size(),
                    .own_rows = own,
                    .allocated_bytes = static_cast<std::int64_t>(level.byte_count()),
                    .passes = {times_[i].down}});
    one.passes.front().add(*level.f_halo, 1);
    if (!one.is_direct) {
      one.passes.push_back(times_[i].up);
      one.passes.back().add(*levels[i + 1].e_halo, 1);
    }
    for (PassReport& pass : one.passes) pass.model_bytes *= static_cast<double>(own);
  }
  return report;
}

template <class Value>
void GridCycle<Value>::forget_times() {
  cycles_ = 0;
  for (LevelTimes& times : times_) {
    times.down = {};
    times.up = {};
  }
}

template class GridCycle<float>;
template class GridCycle<double>;

}  // namespace weft::solver
