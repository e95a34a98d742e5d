#include "solver/multigrid/grid_cycle.h"

#include <functional>
#include <string>
#include <utility>

#include "perfmodel/thread_trace.h"
#include "solver/multigrid/cycle_bounds.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/passes/pass_model.h"
#include "solver/multigrid/passes/tiles.h"
#include "spmv/grid/box.h"
#include "spmv/modes/work.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::ThreadTrace;
using spmv::GridBox;
using spmv::RowSet;

namespace {

/// Of the messages: operands of an operator count theirs from 0.
constexpr int first_tag = 2000;

}  // namespace

/// The way up to one grid.
class GridCycle::UpWork final : public spmv::Work {
 public:
  UpWork(CycleGrids& grids, std::size_t index, const UpPass::Sink& sink)
      : grids_(grids), index_(index), sink_(sink) {}
  void run(RowSet part, const TeamThread& thread,
           const std::function<void()>& pause) const override {
    CycleGrids::Level& level = grids_.levels()[index_];
    for_each_tile(level.up, part, thread, [&](const PassTile& tile) {
      level.up_pass->run(tile, level.f, level.x, grids_.levels()[index_ + 1].interpolation_source(),
                         sink_, grids_.memory(thread), pause);
    });
  }

 private:
  CycleGrids& grids_;
  std::size_t index_;
  UpPass::Sink sink_;
};

/// Adds the time from its construction to its end to `times`, and records it in a trace. Thread:
/// every thread of the team; only the primary one is timed.
class GridCycle::TimedPass {
 public:
  TimedPass(const perfmodel::PhaseTimer& timer, const TeamThread& thread, PassTimes& times,
            const char* name)
      : timer_(timer), times_(times), name_(name), is_timed_(thread.is_primary()) {
    if (!is_timed_) return;
    waited_ = timer_.times()[perfmodel::Phase::halo_wait];
    begin_ = ThreadTrace::now();
  }
  ~TimedPass() {
    if (!is_timed_) return;
    const std::int64_t end = ThreadTrace::now();
    times_.seconds += 1e-9 * static_cast<double>(end - begin_);
    times_.halo_wait_seconds += timer_.times()[perfmodel::Phase::halo_wait] - waited_;
    if (ThreadTrace* const trace = ThreadTrace::of_this_thread())
      trace->record(name_, ThreadTrace::Kind::overlapping, begin_, end);
  }
  TimedPass(const TimedPass&) = delete;
  TimedPass& operator=(const TimedPass&) = delete;

 private:
  const perfmodel::PhaseTimer& timer_;
  PassTimes& times_;
  const char* name_;
  bool is_timed_;
  double waited_ = 0;
  std::int64_t begin_ = 0;
};

GridCycle::GridCycle(const comm_thread::Communicator& communicator,
                     comm_thread::CommThread& comm_thread, const comm_thread::ComputeTeam& team,
                     const spmv::GridStencil& stencil, const spmv::GridPartition& partition,
                     const Options& options, perfmodel::PhaseTimer& timer)
    : GridCycle(communicator, comm_thread, team,
                plan_constant(stencil, partition, options.least_points).levels, options, timer) {}

GridCycle::GridCycle(const comm_thread::Communicator& communicator,
                     comm_thread::CommThread& comm_thread, const comm_thread::ComputeTeam& team,
                     std::vector<LevelPlan> plan, const Options& options,
                     perfmodel::PhaseTimer& timer)
    : grids_(communicator, comm_thread, team, std::move(plan), options, first_tag, timer),
      times_(grids_.levels().size()) {
  std::vector<GridLevel> grids;
  for (const CycleGrids::Level& level : grids_.levels()) grids.push_back(level.grid);
  least_eigenvalue_ = least_eigenvalue_of_cycle(grids, options.steps);
  for (std::size_t i = 0; i < times_.size(); ++i) make_times(i);
}

void GridCycle::make_times(std::size_t index) {
  LevelTimes& times = times_[index];
  const auto levels = grids_.levels();
  const bool is_last = index + 1 == levels.size();
  const std::string number = std::to_string(index);
  times.down_name = perfmodel::kept_name(is_last ? "coarsest grid" : "grid " + number + " down");
  times.up_name = perfmodel::kept_name("grid " + number + " up");
  if (is_last) return;
  times.coarse_share = static_cast<double>(levels[index + 1].grid.point_count()) /
                       static_cast<double>(levels[index].grid.point_count());
}

void GridCycle::descend_from(const TeamThread& thread, std::size_t index,
                             const DownPass::Source& source, spmv::Halo* halo) {
  CycleGrids::Level& level = grids_.levels()[index];
  LevelTimes& times = times_[index];
  const TimedPass timed(grids_.timer(), thread, times.down, times.down_name);
  const bool is_last = index + 1 == grids_.levels().size();
  if (thread.is_primary() && !is_last)
    times.down_bytes = bytes_of_down_pass(source, times.coarse_share) + level.coupling_bytes();
  if (halo == &*level.f_halo && index > 0) level.f_halo->copy_own(thread);
  if (is_last)
    grids_.collective_run(thread, CycleGrids::CoarsestWork(grids_), halo);
  else
    grids_.collective_run(thread, CycleGrids::DownWork(grids_, index, source), halo);
}

void GridCycle::collective_descend(const TeamThread& thread, const DownPass::Source& source,
                                   spmv::Halo* halo) {
  const auto levels = grids_.levels();
  descend_from(thread, 0, source, halo);
  for (std::size_t i = 1; i < levels.size(); ++i)
    descend_from(thread, i, {.array = &levels[i].f}, &*levels[i].f_halo);
}

void GridCycle::ascend_to(const TeamThread& thread, std::size_t index, const UpPass::Sink& sink) {
  CycleGrids::Level& level = grids_.levels()[index];
  LevelTimes& times = times_[index];
  BoxExchange<float>& halo = *grids_.levels()[index + 1].e_halo;
  const TimedPass timed(grids_.timer(), thread, times.up, times.up_name);
  if (thread.is_primary())
    times.up_bytes = bytes_of_up_pass(sink, times.coarse_share) + level.coupling_bytes();
  halo.copy_own(thread);
  grids_.collective_run(thread, UpWork(grids_, index, sink), &halo);
}

void GridCycle::collective_ascend(const TeamThread& thread, const UpPass::Sink& sink) {
  const auto levels = grids_.levels();
  for (std::size_t i = levels.size() - 1; i > 1; --i)
    ascend_to(thread, i - 1, {.array = &levels[i - 1].e});
  ascend_to(thread, 0, sink);
  if (thread.is_primary()) ++cycles_;
}

void GridCycle::collective_cycle_from(const TeamThread& thread, std::size_t index) {
  const auto levels = grids_.levels();
  const std::size_t last = levels.size() - 1;
  for (std::size_t i = index; i <= last; ++i)
    descend_from(thread, i, {.array = &levels[i].f}, i > index ? &*levels[i].f_halo : nullptr);
  for (std::size_t i = last; i > index; --i) ascend_to(thread, i - 1, {.array = &levels[i - 1].e});
}

void GridCycle::forget_times() {
  cycles_ = 0;
  for (LevelTimes& times : times_) {
    times.down = {};
    times.up = {};
  }
}

CycleReport GridCycle::report() {
  const auto levels = grids_.levels();
  CycleReport report{.cycles = cycles_, .steps = options().steps, .levels = {}};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    CycleGrids::Level& level = levels[i];
    const LevelTimes& times = times_[i];
    const GridBox points = level.grid.points();
    const auto own =
        static_cast<double>(level.cuts.box(grids_.communicator().rank()).point_count());
    const auto pass = [&](const PassTimes& of_pass, double bytes_per_point) {
      return PassReport{.times = of_pass, .model_bytes = bytes_per_point * own};
    };
    const auto note_exchange = [](PassReport& of, BoxExchange<float>& halo) {
      of.sent_bytes = halo.sent_bytes();
      of.sent_messages = halo.sent_messages();
      of.halo = &halo;
    };
    LevelReport one{.size = {points.size(0), points.size(1), points.size(2)},
                    .own_points = static_cast<std::int64_t>(own),
                    .down = pass(times.down, times.down_bytes),
                    .up = pass(times.up, times.up_bytes)};
    note_exchange(one.down, *level.f_halo);
    if (i + 1 < levels.size()) note_exchange(one.up, *levels[i + 1].e_halo);
    report.levels.push_back(one);
    report.allocated_bytes += level.byte_count();
  }
  return report;
}

}  // namespace weft::solver
