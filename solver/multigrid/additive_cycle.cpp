#include "solver/multigrid/additive_cycle.h"

#include <algorithm>
#include <utility>

#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/passes/row_kernels.h"
#include "spmv/modes/run_in_mode.h"

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;
using spmv::RowSet;

namespace {

/// Of the messages: GridCycle counts its own from 2000.
constexpr int first_tag = 2500;

/// Planes of a slice at least: each computes again what it needs of its neighbours'.
constexpr GlobalIndex least_slice = 12;

template <class Run>
void for_each_tile(const PassTiles& tiles, RowSet part, const TeamThread& thread, const Run& run) {
  const auto index = static_cast<std::size_t>(thread.index);
  if (part != RowSet::boundary)
    for (const PassTile& tile : tiles.interior[index]) run(tile);
  if (part != RowSet::interior)
    for (const PassTile& tile : tiles.boundary[index]) run(tile);
}

/// Calls row(y, z, range) for the rows of a tile.
template <class Row>
void for_each_row(const GridBox& box, const GridBox& domain, const Row& row) {
  const RowRange range(box.begin[0], box.end[0], domain.end[0]);
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) row(y, z, range);
}

/// y + w, to where it is wanted; `w` is overwritten.
void deliver_sum(const UpPass::Sink& sink, GlobalIndex y, GlobalIndex z, RowRange range,
                 const float* smoothed, float* w) {
  add_row(range, smoothed, w, sink.array ? sink.array->row(y, z) : w);
  if (sink.array) return;
  double* const values = sink.values + sink.layout->index(range.begin, y, z) - range.begin;
  if (sink.direction)
    update_row(range, static_cast<float>(sink.old), static_cast<float>(sink.fresh), w,
               sink.direction->row(y, z), values);
  else
    widen_row(range, w, values);
}

}  // namespace

/// The way down from one grid.
class AdditiveCycle::DownWork final : public spmv::Work {
 public:
  DownWork(AdditiveCycle& cycle, std::size_t index, const DownPass::Source& source)
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
  AdditiveCycle& cycle_;
  std::size_t index_;
  DownPass::Source source_;
};

/// w of one grid, added to its y.
class AdditiveCycle::UpWork final : public spmv::Work {
 public:
  UpWork(AdditiveCycle& cycle, std::size_t index, const UpPass::Sink& sink)
      : cycle_(cycle), index_(index), sink_(sink) {}
  void run(RowSet part, const TeamThread& thread,
           const std::function<void()>& pause) const override {
    Level& level = cycle_.levels_[index_];
    for_each_tile(level.up, part, thread, [&](const PassTile& tile) {
      level.up_pass->run(tile, level.no_f, level.no_f,
                         cycle_.levels_[index_ + 1].interpolation_source(), {.array = &level.w},
                         cycle_.memories_[static_cast<std::size_t>(thread.index)], pause);
    });
  }
  /// After a barrier: `y` may be another thread's.
  void add(const TeamThread& thread) const {
    Level& level = cycle_.levels_[index_];
    for_each_tile(level.up, RowSet::all, thread, [&](const PassTile& tile) {
      for_each_row(tile.points, level.grid.points(),
                   [&](GlobalIndex y, GlobalIndex z, RowRange range) {
                     deliver_sum(sink_, y, z, range, level.y.row(y, z), level.w.row(y, z));
                   });
    });
  }

 private:
  AdditiveCycle& cycle_;
  std::size_t index_;
  UpPass::Sink sink_;
};

/// The direct solution, after the coarsest grid's f has arrived.
class AdditiveCycle::CoarsestWork final : public spmv::Work {
 public:
  explicit CoarsestWork(AdditiveCycle& cycle) : cycle_(cycle) {}
  void run(RowSet part, const TeamThread& thread, const std::function<void()>&) const override {
    Level& level = cycle_.levels_.back();
    if (part != RowSet::interior && thread.is_primary() && cycle_.coarsest_)
      cycle_.coarsest_->solve(level.f, level.e);
  }

 private:
  AdditiveCycle& cycle_;
};

/// Other work, and beside its messages a slice of the finest y and all of another grid's.
class AdditiveCycle::BesideWork final : public spmv::Work {
 public:
  /// `level`: the other grid; 0 for none.
  BesideWork(AdditiveCycle& cycle, const spmv::Work& work, std::size_t slice, std::size_t level)
      : cycle_(cycle), work_(work), slice_(slice), level_(level) {}
  void run(RowSet part, const TeamThread& thread,
           const std::function<void()>& pause) const override {
    if (part != RowSet::boundary) {
      cycle_.smooth(0, cycle_.slices_[slice_], thread, pause);
      if (level_ > 0) {
        cycle_.smooth(level_, cycle_.levels_[level_].up.interior, thread, pause);
        cycle_.smooth(level_, cycle_.levels_[level_].up.boundary, thread, pause);
      }
    }
    work_.run(part, thread, pause);
  }

 private:
  AdditiveCycle& cycle_;
  const spmv::Work& work_;
  std::size_t slice_;
  std::size_t level_;
};

AdditiveCycle::AdditiveCycle(const comm_thread::Communicator& communicator,
                             comm_thread::CommThread& comm_thread,
                             const comm_thread::ComputeTeam& team, const spmv::GridStencil& stencil,
                             const spmv::GridPartition& partition, const Options& options,
                             perfmodel::PhaseTimer& timer)
    : communicator_(communicator),
      comm_thread_(comm_thread),
      team_(team),
      options_(options),
      memories_(static_cast<std::size_t>(team.thread_count())),
      timer_(timer) {
  GridPlan plan = plan_constant(stencil, partition, options.least_points);
  levels_.reserve(plan.levels.size());  // they hold references to each other
  for (LevelPlan& level : plan.levels) {
    levels_.push_back({.grid = level.grid,
                       .cuts = level.cuts,
                       .finer_cuts = level.finer_cuts,
                       .f = {},
                       .x = {},
                       .y = {},
                       .w = {},
                       .e = {},
                       .no_f = {},
                       .no_e = {},
                       .restricted = {},
                       .correction = {},
                       .f_halo = {},
                       .e_halo = {},
                       .down = {},
                       .up = {},
                       .down_pass = {},
                       .up_pass = {}});
  }
  for (std::size_t i = 0; i < levels_.size(); ++i) make_level(levels_[i], i);
  make_slices();
  if (!levels_.back().cuts.box(communicator.rank()).is_empty())
    coarsest_.emplace(levels_.back().grid);
  communicator.barrier();  // both ends of every pair exist
}

void AdditiveCycle::make_level(Level& level, std::size_t index) {
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
  level.y = GridArray(own, 1);
  level.w = GridArray(own, 1);
  level.no_f = GridArray::zeros(own, options_.steps + 1);
  const LevelCuts coarse = level.cuts.coarse(level.grid.is_coarsened);
  level.no_e = GridArray::zeros(coarse.box(rank), e_depth + 1);
  const bool is_corrected_here = !levels_[index + 1].cuts.box(rank).is_empty();
  // The finest residual needs x at one more point on each side.
  const int reach = options_.steps + (index == 0 ? 2 : 1);
  const GridBox smoothed = own.is_empty() ? own : grown(own, options_.steps, domain);
  level.down = cut_into_tiles(smoothed, own, level.finer_cuts.box(rank), domain, reach, threads);
  level.up = cut_into_tiles(own, own, is_corrected_here ? own : GridBox{}, domain,
                            options_.steps + 1, threads);
  level.down_pass.emplace(level.grid, levels_[index + 1].grid, options_.steps);
  level.up_pass.emplace(level.grid, options_.steps);
}

void AdditiveCycle::make_slices() {
  const GridBox own = levels_.front().cuts.box(communicator_.rank());
  const auto count = static_cast<GlobalIndex>(2 * (levels_.size() - 1));
  const GlobalIndex used = std::clamp<GlobalIndex>(own.size(2) / least_slice, 1, count);
  for (GlobalIndex i = 0; i < count; ++i) {
    GridBox slice = own;
    slice.begin[2] = own.begin[2] + own.size(2) * std::min(i, used) / used;
    slice.end[2] = own.begin[2] + own.size(2) * std::min(i + 1, used) / used;
    slices_.push_back(
        cut_into_tiles(slice, slice, slice, slice, options_.steps, team_.thread_count()).interior);
  }
}

void AdditiveCycle::smooth(std::size_t index, const Tiles& tiles, const TeamThread& thread,
                           const std::function<void()>& pause) {
  Level& level = levels_[index];
  for (const PassTile& tile : tiles[static_cast<std::size_t>(thread.index)])
    level.up_pass->run(tile, level.f, level.x, level.no_e, {.array = &level.y},
                       memories_[static_cast<std::size_t>(thread.index)], pause);
}

void AdditiveCycle::collective_run(const TeamThread& thread, const spmv::Work& work,
                                   spmv::Halo* halo) {
  if (halo && !halo->messages().is_empty()) {
    spmv::run_in_mode(thread, options_.mode, {work, *halo, comm_thread_, timer_});
  } else {
    const perfmodel::PhaseScope scope(timer_, thread.index, perfmodel::Phase::local_part);
    work.run(RowSet::all, thread, {});
  }
  thread.barrier();
}

void AdditiveCycle::begin(const TeamThread& thread, const DownPass::Source& source) {
  DownWork(*this, 0, source).run(RowSet::interior, thread, {});
}

void AdditiveCycle::collective_descend(const TeamThread& thread, const DownPass::Source& source,
                                       spmv::Halo* halo, RowSet part) {
  if (part == RowSet::boundary) {
    DownWork(*this, 0, source).run(part, thread, {});
    thread.barrier();
  } else {
    collective_run(thread, DownWork(*this, 0, source), halo);
  }
  for (std::size_t i = 1; i < levels_.size(); ++i) {
    Level& level = levels_[i];
    level.f_halo->copy_own(thread);
    if (i + 1 < levels_.size()) {
      const DownWork work(*this, i, {.array = &level.f});
      collective_run(thread, BesideWork(*this, work, i - 1, i - 1), &*level.f_halo);
    } else {
      const CoarsestWork work(*this);
      collective_run(thread, BesideWork(*this, work, i - 1, i - 1), &*level.f_halo);
    }
  }
}

void AdditiveCycle::collective_ascend(const TeamThread& thread, const UpPass::Sink& sink) {
  const std::size_t last = levels_.size() - 1;
  for (std::size_t i = last; i > 0; --i) {
    levels_[i].e_halo->copy_own(thread);
    const UpPass::Sink to = i > 1 ? UpPass::Sink{.array = &levels_[i - 1].e} : sink;
    const UpWork work(*this, i - 1, to);
    collective_run(thread, BesideWork(*this, work, 2 * last - i, 0), &*levels_[i].e_halo);
    work.add(thread);
    thread.barrier();
  }
}

}  // namespace weft::solver
