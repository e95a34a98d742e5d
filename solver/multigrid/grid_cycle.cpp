#include "solver/multigrid/grid_cycle.h"

#include <algorithm>
#include <string>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "perfmodel/thread_trace.h"
#include "solver/multigrid/cubic_terms.h"
#include "solver/multigrid/cycle_bounds.h"
#include "solver/multigrid/passes/pass_model.h"
#include "spmv/modes/run_in_mode.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::ThreadTrace;
using spmv::GridBox;
using spmv::RowSet;

namespace {

/// Of the messages: operands of an operator count theirs from 0.
constexpr int first_tag = 2000;

/// Calls run(tile) for the tiles of `part` that are the thread's.
template <class Run>
void for_each_tile(const PassTiles& tiles, RowSet part, const TeamThread& thread, const Run& run) {
  const auto index = static_cast<std::size_t>(thread.index);
  if (part != RowSet::boundary)
    for (const PassTile& tile : tiles.interior[index]) run(tile);
  if (part != RowSet::interior)
    for (const PassTile& tile : tiles.boundary[index]) run(tile);
}

}  // namespace

/// The way down from one grid.
class GridCycle::DownWork final : public spmv::Work {
 public:
  DownWork(GridCycle& cycle, std::size_t index, const DownPass::Source& source)
      : cycle_(cycle), index_(index), source_(source) {}
  void run(RowSet part, const TeamThread& thread,
           const std::function<void()>& pause) const override {
    Level& level = cycle_.levels_[index_];
    for_each_tile(level.down, part, thread, [&](const PassTile& tile) {
      level.down_pass->run(tile, source_, level.x, cycle_.levels_[index_ + 1].restriction_target(),
                           cycle_.memories_[static_cast<std::size_t>(thread.index)], pause);
    });
  }

 private:
  GridCycle& cycle_;
  std::size_t index_;
  DownPass::Source source_;
};

/// The way up to one grid.
class GridCycle::UpWork final : public spmv::Work {
 public:
  UpWork(GridCycle& cycle, std::size_t index, const UpPass::Sink& sink)
      : cycle_(cycle), index_(index), sink_(sink) {}
  void run(RowSet part, const TeamThread& thread,
           const std::function<void()>& pause) const override {
    Level& level = cycle_.levels_[index_];
    for_each_tile(level.up, part, thread, [&](const PassTile& tile) {
      level.up_pass->run(tile, level.f, level.x, cycle_.levels_[index_ + 1].interpolation_source(),
                         sink_, cycle_.memories_[static_cast<std::size_t>(thread.index)], pause);
    });
  }

 private:
  GridCycle& cycle_;
  std::size_t index_;
  UpPass::Sink sink_;
};

/// The direct solution, after the coarsest grid's f has arrived.
class GridCycle::CoarsestWork final : public spmv::Work {
 public:
  explicit CoarsestWork(GridCycle& cycle) : cycle_(cycle) {}
  void run(RowSet part, const TeamThread& thread, const std::function<void()>&) const override {
    Level& level = cycle_.levels_.back();
    if (part != RowSet::interior && thread.is_primary() && cycle_.coarsest_)
      cycle_.coarsest_->solve(level.f, level.e);
  }

 private:
  GridCycle& cycle_;
};

/// Adds the time from its construction to its end to `times`, and records it in a trace. Thread:
/// every thread of the team; only the primary one is timed.
class GridCycle::TimedPass {
 public:
  TimedPass(const GridCycle& cycle, const TeamThread& thread, PassTimes& times, const char* name)
      : cycle_(cycle), times_(times), name_(name), is_timed_(thread.is_primary()) {
    if (!is_timed_) return;
    waited_ = cycle.timer_.times()[perfmodel::Phase::halo_wait];
    begin_ = ThreadTrace::now();
  }
  ~TimedPass() {
    if (!is_timed_) return;
    const std::int64_t end = ThreadTrace::now();
    times_.seconds += 1e-9 * static_cast<double>(end - begin_);
    times_.halo_wait_seconds += cycle_.timer_.times()[perfmodel::Phase::halo_wait] - waited_;
    if (ThreadTrace* const trace = ThreadTrace::of_this_thread())
      trace->record(name_, ThreadTrace::Kind::overlapping, begin_, end);
  }
  TimedPass(const TimedPass&) = delete;
  TimedPass& operator=(const TimedPass&) = delete;

 private:
  const GridCycle& cycle_;
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
    : communicator_(communicator),
      comm_thread_(comm_thread),
      team_(team),
      options_(options),
      memories_(static_cast<std::size_t>(team.thread_count())),
      timer_(timer) {
  levels_.reserve(plan.size());  // they hold references to each other
  for (LevelPlan& level : plan) {
    levels_.push_back({.grid = level.grid,
                       .cuts = level.cuts,
                       .finer_cuts = level.finer_cuts,
                       .f = {},
                       .x = {},
                       .e = {},
                       .restricted = {},
                       .correction = {},
                       .f_halo = {},
                       .e_halo = {},
                       .down = {},
                       .up = {},
                       .down_pass = {},
                       .up_pass = {},
                       .couplings = std::move(level.couplings),
                       .down_times = {},
                       .up_times = {}});
    if (level.coarsest) coarsest_couplings_ = std::move(level.coarsest);
  }
  std::vector<GridLevel> grids;
  for (const Level& level : levels_) grids.push_back(level.grid);
  least_eigenvalue_ = least_eigenvalue_of_cycle(grids, options.steps);
  for (std::size_t i = 0; i < levels_.size(); ++i) make_level(levels_[i], i);
  comm_thread::collective_attempt(communicator, [&] {
    if (!levels_.back().cuts.box(communicator.rank()).is_empty())
      coarsest_.emplace(levels_.back().grid, coarsest_couplings_.get());
  });
  communicator.barrier();  // both ends of every pair exist
}

void GridCycle::make_level(Level& level, std::size_t index) {
  const int rank = communicator_.rank();
  const bool is_last = index + 1 == levels_.size();
  const std::string number = std::to_string(index);
  level.down_name = perfmodel::kept_name(is_last ? "coarsest grid" : "grid " + number + " down");
  level.up_name = perfmodel::kept_name("grid " + number + " up");
  const GridBox domain = level.grid.points();
  const GridBox own = level.cuts.box(rank);
  const int threads = team_.thread_count();
  const int f_depth = is_last ? 0 : depth();
  const int e_depth = std::max(options_.steps, options_.has_full_start ? CubicTerms::reach : 2);
  level.f = GridArray(own, std::max(f_depth, 1));
  if (index > 0) level.e = GridArray(own, e_depth);
  if (level.cuts != level.finer_cuts) {
    level.restricted.emplace(level.finer_cuts.box(rank), 1);
    level.correction.emplace(level.finer_cuts.box(rank), e_depth);
  }
  GridArray& from = level.restriction_target();
  const int tag = first_tag + 2 * static_cast<int>(index);
  const auto side = [](const LevelCuts& cuts, int depth, GridArray& array) {
    return BoxExchange<float>::Side{cuts, depth, array.layout(), array.values()};
  };
  level.f_halo.emplace(communicator_, domain, side(level.finer_cuts, 0, from),
                       side(level.cuts, f_depth, level.f), threads, tag);
  if (index > 0)
    level.e_halo.emplace(communicator_, domain, side(level.cuts, 0, level.e),
                         side(level.finer_cuts, e_depth, level.interpolation_source()), threads,
                         tag + 1);
  if (is_last) return;
  level.coarse_share = static_cast<double>(levels_[index + 1].grid.point_count()) /
                       static_cast<double>(level.grid.point_count());
  level.x = GridArray(own, options_.steps);
  const bool is_corrected_here = !levels_[index + 1].cuts.box(rank).is_empty();
  // The finest residual needs x at one more point on each side.
  const int reach = options_.steps + (index == 0 ? 2 : 1);
  const GridBox smoothed = own.is_empty() ? own : grown(own, options_.steps, domain);
  level.down = cut_into_tiles(smoothed, own, level.finer_cuts.box(rank), domain, reach, threads);
  level.up = cut_into_tiles(own, own, is_corrected_here ? own : GridBox{}, domain,
                            options_.steps + 1, threads);
  const LevelCouplings* const couplings = level.couplings.get();
  level.down_pass.emplace(level.grid, levels_[index + 1].grid, options_.steps, couplings);
  level.up_pass.emplace(level.grid, options_.steps, couplings);
}

std::size_t GridCycle::Level::byte_count() const {
  std::size_t bytes = f.byte_count() + x.byte_count() + e.byte_count();
  if (restricted) bytes += restricted->byte_count();
  if (correction) bytes += correction->byte_count();
  if (f_halo) bytes += f_halo->buffer_bytes();
  if (e_halo) bytes += e_halo->buffer_bytes();
  return bytes;
}

void GridCycle::run_alone(const TeamThread& thread, const spmv::Work& work) {
  const perfmodel::PhaseScope scope(timer_, thread.index, perfmodel::Phase::local_part);
  work.run(RowSet::all, thread, {});
}

void GridCycle::collective_run(const TeamThread& thread, const spmv::Work& work, spmv::Halo* halo) {
  if (halo && !halo->messages().is_empty())
    spmv::run_in_mode(thread, options_.mode, {work, *halo, comm_thread_, timer_});
  else
    run_alone(thread, work);
  thread.barrier();
}

void GridCycle::descend_from(const TeamThread& thread, std::size_t index,
                             const DownPass::Source& source, spmv::Halo* halo) {
  Level& level = levels_[index];
  const TimedPass timed(*this, thread, level.down_times, level.down_name);
  const bool is_last = index + 1 == levels_.size();
  if (thread.is_primary() && !is_last)
    level.down_bytes = bytes_of_down_pass(source, level.coarse_share) + level.coupling_bytes();
  if (halo == &*level.f_halo && index > 0) level.f_halo->copy_own(thread);
  if (is_last)
    collective_run(thread, CoarsestWork(*this), halo);
  else
    collective_run(thread, DownWork(*this, index, source), halo);
}

void GridCycle::collective_descend(const TeamThread& thread, const DownPass::Source& source,
                                   spmv::Halo* halo) {
  descend_from(thread, 0, source, halo);
  for (std::size_t i = 1; i < levels_.size(); ++i)
    descend_from(thread, i, {.array = &levels_[i].f}, &*levels_[i].f_halo);
}

void GridCycle::ascend_to(const TeamThread& thread, std::size_t index, const UpPass::Sink& sink) {
  Level& level = levels_[index];
  BoxExchange<float>& halo = *levels_[index + 1].e_halo;
  const TimedPass timed(*this, thread, level.up_times, level.up_name);
  if (thread.is_primary())
    level.up_bytes = bytes_of_up_pass(sink, level.coarse_share) + level.coupling_bytes();
  halo.copy_own(thread);
  collective_run(thread, UpWork(*this, index, sink), &halo);
}

void GridCycle::collective_ascend(const TeamThread& thread, const UpPass::Sink& sink) {
  for (std::size_t i = levels_.size() - 1; i > 1; --i)
    ascend_to(thread, i - 1, {.array = &levels_[i - 1].e});
  ascend_to(thread, 0, sink);
  if (thread.is_primary()) ++cycles_;
}

void GridCycle::collective_cycle_from(const TeamThread& thread, std::size_t index) {
  const std::size_t last = levels_.size() - 1;
  for (std::size_t i = index; i <= last; ++i)
    descend_from(thread, i, {.array = &levels_[i].f}, i > index ? &*levels_[i].f_halo : nullptr);
  for (std::size_t i = last; i > index; --i) ascend_to(thread, i - 1, {.array = &levels_[i - 1].e});
}

void GridCycle::forget_times() {
  cycles_ = 0;
  for (Level& level : levels_) {
    level.down_times = {};
    level.up_times = {};
  }
}

CycleReport GridCycle::report() {
  CycleReport report{.cycles = cycles_, .steps = options_.steps, .levels = {}};
  for (Level& level : levels_) {
    const GridBox points = level.grid.points();
    const auto own = static_cast<double>(level.cuts.box(communicator_.rank()).point_count());
    const auto pass = [&](const PassTimes& times, double bytes_per_point) {
      return PassReport{.times = times, .model_bytes = bytes_per_point * own};
    };
    const auto note_exchange = [](PassReport& of, BoxExchange<float>& halo) {
      of.sent_bytes = halo.sent_bytes();
      of.sent_messages = halo.sent_messages();
      of.halo = &halo;
    };
    LevelReport one{.size = {points.size(0), points.size(1), points.size(2)},
                    .own_points = static_cast<std::int64_t>(own),
                    .down = pass(level.down_times, level.down_bytes),
                    .up = pass(level.up_times, level.up_bytes)};
    note_exchange(one.down, *level.f_halo);
    if (&level != &levels_.back()) note_exchange(one.up, *(&level)[1].e_halo);
    report.levels.push_back(one);
    report.allocated_bytes += level.byte_count();
  }
  return report;
}

}  // namespace weft::solver
