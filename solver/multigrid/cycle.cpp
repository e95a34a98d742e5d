#include "solver/multigrid/cycle.h"

#include <string>
#include <utility>

#include "perfmodel/thread_trace.h"
#include "solver/multigrid/cycle_bounds.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "spmv/grid/box.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::ThreadTrace;
using spmv::GridBox;

Cycle::TimedPass::TimedPass(const perfmodel::PhaseTimer& timer, const TeamThread& thread,
                            PassTimes& times, const char* name)
    : timer_(timer), times_(times), name_(name), is_timed_(thread.is_primary()) {
  if (!is_timed_) return;
  waited_ = timer_.times()[perfmodel::Phase::halo_wait];
  begin_ = ThreadTrace::now();
}

Cycle::TimedPass::~TimedPass() {
  if (!is_timed_) return;
  const std::int64_t end = ThreadTrace::now();
  times_.seconds += 1e-9 * static_cast<double>(end - begin_);
  times_.halo_wait_seconds += timer_.times()[perfmodel::Phase::halo_wait] - waited_;
  if (ThreadTrace* const trace = ThreadTrace::of_this_thread())
    trace->record(name_, ThreadTrace::Kind::overlapping, begin_, end);
}

Cycle::Cycle(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
             const comm_thread::ComputeTeam& team, std::vector<LevelPlan> plan,
             const Options& options, int first_tag, perfmodel::PhaseTimer& timer)
    : grids_(communicator, comm_thread, team, std::move(plan), options, first_tag, timer),
      times_(grids_.levels().size()) {
  std::vector<GridLevel> grids;
  for (const CycleGrids::Level& level : grids_.levels()) grids.push_back(level.grid);
  least_eigenvalue_ = least_eigenvalue_of_cycle(grids, options.steps);
  for (std::size_t i = 0; i < times_.size(); ++i) make_times(i);
}

void Cycle::make_times(std::size_t index) {
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

void Cycle::forget_times() {
  cycles_ = 0;
  for (LevelTimes& times : times_) {
    times.down = {};
    times.up = {};
  }
}

CycleReport Cycle::report() {
  const auto levels = grids_.levels();
  CycleReport report{.cycles = cycles_,
                     .steps = options().steps,
                     .gathering = options().gathering,
                     .allocated_bytes = own_byte_count(),
                     .levels = {}};
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
