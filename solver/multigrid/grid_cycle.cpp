#include "solver/multigrid/grid_cycle.h"

#include <algorithm>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "spmv/modes/run_in_mode.h"

namespace weft::solver {

using comm_thread::TeamThread;
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

GridCycle::GridCycle(const comm_thread::Communicator& communicator,
                     comm_thread::CommThread& comm_thread, const comm_thread::ComputeTeam& team,
                     const spmv::GridStencil& stencil, const spmv::GridPartition& partition,
                     const Options& options, perfmodel::PhaseTimer& timer)
    : GridCycle(communicator, comm_thread, team, plan_constant(stencil, partition).levels, options,
                timer) {}

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
                       .couplings = std::move(level.couplings)});
    if (level.coarsest) coarsest_couplings_ = std::move(level.coarsest);
  }
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
  const GridBox domain = level.grid.points();
  const GridBox own = level.cuts.box(rank);
  const int threads = team_.thread_count();
  const int f_depth = is_last ? 0 : depth();
  const int e_depth = std::max(options_.steps, 2);
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

void GridCycle::collective_descend(const TeamThread& thread, const DownPass::Source& source,
                                   spmv::Halo* halo) {
  collective_run(thread, DownWork(*this, 0, source), halo);
  for (std::size_t i = 1; i < levels_.size(); ++i) {
    Level& level = levels_[i];
    level.f_halo->copy_own(thread);
    if (i + 1 < levels_.size())
      collective_run(thread, DownWork(*this, i, {.array = &level.f}), &*level.f_halo);
    else
      collective_run(thread, CoarsestWork(*this), &*level.f_halo);
  }
}

void GridCycle::collective_ascend(const TeamThread& thread, const UpPass::Sink& sink) {
  for (std::size_t i = levels_.size() - 1; i > 0; --i) {
    levels_[i].e_halo->copy_own(thread);
    const UpPass::Sink to = i > 1 ? UpPass::Sink{.array = &levels_[i - 1].e} : sink;
    collective_run(thread, UpWork(*this, i - 1, to), &*levels_[i].e_halo);
  }
}

}  // namespace weft::solver
