#include "solver/multigrid/additive_cycle.h"

#include <algorithm>

#include "solver/multigrid/grids/level_cuts.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/passes/pass_model.h"
#include "solver/multigrid/passes/row_kernels.h"
#include "solver/multigrid/passes/tiles.h"
#include "spmv/grid/box.h"
#include "spmv/modes/work.h"
#include "spmv/rows/index.h"

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;
using spmv::RowSet;

namespace {

/// Of the messages: GridCycle counts its own from 2000.
constexpr int first_additive_tag = 2500;

/// Planes of a slice at least: each computes again what it needs of its neighbours'.
constexpr GlobalIndex least_slice = 12;

/// Bytes a point besides those of a pass up: y = Λ·f reads f and x̂ and writes y, w is written, the
/// sum reads y and w, and the pass up does not read f and x̂.
template <class Value>
constexpr double bytes_of_own_term = (4 + 2 + 2 - 2) * sizeof(Value);

/// Full starts are GridCycle's: here coarse solutions travel no further than a pass reads.
CycleOptions additive(CycleOptions options) {
  options.has_full_start = false;
  options.is_additive = true;
  return options;
}

/// Calls row(y, z, range) for the rows of a tile.
template <class Row>
void for_each_row(const GridBox& box, const GridBox& domain, const Row& row) {
  const RowRange range(box.begin[0], box.end[0], domain.end[0]);
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) row(y, z, range);
}

/// y + w, to where it is wanted; `w` is overwritten.
template <class Value>
void deliver_sum(const typename UpPass<Value>::Sink& sink, GlobalIndex y, GlobalIndex z,
                 RowRange range, const Value* smoothed, Value* w) {
  add_row(range, smoothed, w, sink.array ? sink.array->row(y, z) : w);
  if (sink.array) return;
  double* const values = sink.values + sink.layout->index(range.begin, y, z) - range.begin;
  if (sink.direction)
    update_row(range, static_cast<Value>(sink.old), static_cast<Value>(sink.fresh), w,
               sink.direction->row(y, z), sink.factor, values);
  else
    widen_row(range, w, sink.factor, values);
}

}  // namespace

/// w of one grid, added to its y.
template <class Value>
class AdditiveCycle<Value>::UpWork final : public spmv::Work {
 public:
  UpWork(AdditiveCycle& cycle, std::size_t index, const typename UpPass<Value>::Sink& sink)
      : cycle_(cycle), index_(index), sink_(sink) {}
  void run(RowSet part, const TeamThread& thread,
           const std::function<void()>& pause) const override {
    typename CycleGrids<Value>::Level& level = cycle_.grids_.levels()[index_];
    Terms& terms = cycle_.terms_[index_];
    for_each_tile(level.up, part, thread, [&](const PassTile& tile) {
      level.up_pass->run(tile, terms.no_f, terms.no_f,
                         cycle_.grids_.levels()[index_ + 1].interpolation_source(),
                         {.array = &terms.w}, cycle_.grids_.memory(thread), pause);
    });
  }
  /// After a barrier: `y` may be another thread's.
  void add(const TeamThread& thread) const {
    typename CycleGrids<Value>::Level& level = cycle_.grids_.levels()[index_];
    Terms& terms = cycle_.terms_[index_];
    for_each_tile(level.up, RowSet::all, thread, [&](const PassTile& tile) {
      for_each_row(tile.points, level.grid.points(),
                   [&](GlobalIndex y, GlobalIndex z, RowRange range) {
                     deliver_sum(sink_, y, z, range, terms.y.row(y, z), terms.w.row(y, z));
                   });
    });
  }

 private:
  AdditiveCycle& cycle_;
  std::size_t index_;
  typename UpPass<Value>::Sink sink_;
};

/// Other work, and beside its messages a slice of the finest y and all of another grid's.
template <class Value>
class AdditiveCycle<Value>::BesideWork final : public spmv::Work {
 public:
  /// `level`: the other grid; 0 for none.
  BesideWork(AdditiveCycle& cycle, const spmv::Work& work, std::size_t slice, std::size_t level)
      : cycle_(cycle), work_(work), slice_(slice), level_(level) {}
  void run(RowSet part, const TeamThread& thread,
           const std::function<void()>& pause) const override {
    if (part != RowSet::boundary) {
      cycle_.smooth(0, cycle_.slices_[slice_], thread, pause);
      if (level_ > 0) {
        const PassTiles& tiles = cycle_.grids_.levels()[level_].up;
        cycle_.smooth(level_, tiles.interior, thread, pause);
        cycle_.smooth(level_, tiles.boundary, thread, pause);
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

template <class Value>
AdditiveCycle<Value>::AdditiveCycle(const comm_thread::Communicator& communicator,
                                    comm_thread::CommThread& comm_thread,
                                    const comm_thread::ComputeTeam& team,
                                    std::vector<LevelPlan<Value>> plan, const Options& options,
                                    perfmodel::PhaseTimer& timer)
    : CycleOf<Value>(communicator, comm_thread, team, std::move(plan), additive(options),
                     first_additive_tag, timer),
      terms_(grids_.levels().size()) {
  for (std::size_t i = 0; i + 1 < terms_.size(); ++i) make_terms(i);
  make_slices();
}

template <class Value>
void AdditiveCycle<Value>::make_terms(std::size_t index) {
  const int rank = grids_.communicator().rank();
  const typename CycleGrids<Value>::Level& level = grids_.levels()[index];
  const GridBox own = level.cuts.box(rank);
  const LevelCuts coarse = level.cuts.coarse(level.grid.is_coarsened);
  Terms& terms = terms_[index];
  terms.y = GridArray<Value>(own, 1);
  terms.w = GridArray<Value>(own, 1);
  terms.no_f = GridArray<Value>::zeros(own, grids_.options().steps_on(index) + 1);
  terms.no_e = GridArray<Value>::zeros(coarse.box(rank), grids_.solution_depth(index + 1) + 1);
}

template <class Value>
std::size_t AdditiveCycle<Value>::own_byte_count() const {
  std::size_t bytes = 0;
  for (const Terms& terms : terms_)
    bytes += terms.y.byte_count() + terms.w.byte_count() + terms.no_f.byte_count() +
             terms.no_e.byte_count();
  return bytes;
}

template <class Value>
void AdditiveCycle<Value>::make_slices() {
  const auto levels = grids_.levels();
  const GridBox own = levels.front().cuts.box(grids_.communicator().rank());
  const auto count = static_cast<GlobalIndex>(2 * (levels.size() - 1));
  const GlobalIndex used = std::clamp<GlobalIndex>(own.size(2) / least_slice, 1, count);
  for (GlobalIndex i = 0; i < count; ++i) {
    GridBox slice = own;
    slice.begin[2] = own.begin[2] + own.size(2) * std::min(i, used) / used;
    slice.end[2] = own.begin[2] + own.size(2) * std::min(i + 1, used) / used;
    slices_.push_back(cut_into_tiles(slice, slice, slice, slice, grids_.options().steps_on(0),
                                     grids_.team().thread_count(), grids_.options().points_in_cache)
                          .interior);
  }
}

template <class Value>
void AdditiveCycle<Value>::smooth(std::size_t index, const Tiles& tiles, const TeamThread& thread,
                                  const std::function<void()>& pause) {
  typename CycleGrids<Value>::Level& level = grids_.levels()[index];
  Terms& terms = terms_[index];
  for (const PassTile& tile : tiles[static_cast<std::size_t>(thread.index)])
    level.up_pass->run(tile, level.f, level.x, terms.no_e, {.array = &terms.y},
                       grids_.memory(thread), pause);
}

template <class Value>
void AdditiveCycle<Value>::begin(const TeamThread& thread,
                                 const typename DownPass<Value>::Source& source) {
  typename CycleGrids<Value>::DownWork(grids_, 0, source).run(RowSet::interior, thread, {});
}

template <class Value>
void AdditiveCycle<Value>::collective_descend(const TeamThread& thread,
                                              const typename DownPass<Value>::Source& source,
                                              spmv::Halo* halo, RowSet part) {
  const auto levels = grids_.levels();
  {
    const TimedPass timed(grids_.timer(), thread, times_[0].down, times_[0].down_name);
    note_down_bytes(thread, 0, source);
    if (part == RowSet::boundary) {
      typename CycleGrids<Value>::DownWork(grids_, 0, source).run(part, thread, {});
      thread.barrier();
    } else {
      grids_.collective_run(thread, typename CycleGrids<Value>::DownWork(grids_, 0, source), halo);
    }
  }
  for (std::size_t i = 1; i < levels.size(); ++i) {
    typename CycleGrids<Value>::Level& level = levels[i];
    const TimedPass timed(grids_.timer(), thread, times_[i].down, times_[i].down_name);
    note_down_bytes(thread, i, {.array = &level.f});
    level.f_halo->copy_own(thread);
    if (i + 1 < levels.size()) {
      const typename CycleGrids<Value>::DownWork work(grids_, i, {.array = &level.f});
      grids_.collective_run(thread, BesideWork(*this, work, i - 1, i - 1), &*level.f_halo);
    } else {
      const typename CycleGrids<Value>::CoarsestWork work(grids_);
      grids_.collective_run(thread, BesideWork(*this, work, i - 1, i - 1), &*level.f_halo);
    }
  }
}

template <class Value>
void AdditiveCycle<Value>::collective_ascend(const TeamThread& thread,
                                             const typename UpPass<Value>::Sink& sink) {
  const auto levels = grids_.levels();
  const std::size_t last = levels.size() - 1;
  for (std::size_t i = last; i > 0; --i) {
    LevelTimes& times = times_[i - 1];
    const TimedPass timed(grids_.timer(), thread, times.up, times.up_name);
    levels[i].e_halo->copy_own(thread);
    const typename UpPass<Value>::Sink to =
        i > 1 ? typename UpPass<Value>::Sink{.array = &levels[i - 1].e} : sink;
    const UpWork work(*this, i - 1, to);
    grids_.collective_run(thread, BesideWork(*this, work, 2 * last - i, 0), &*levels[i].e_halo);
    work.add(thread);
    thread.barrier();
    if (thread.is_primary())
      times.up_bytes = bytes_of_up_pass<Value>(to, times.coarse_share, true) +
                       levels[i - 1].coupling_bytes() + bytes_of_own_term<Value>;
  }
  if (thread.is_primary()) ++cycles_;
}

template <class Value>
void AdditiveCycle<Value>::note_down_bytes(const TeamThread& thread, std::size_t index,
                                           const typename DownPass<Value>::Source& source) {
  LevelTimes& times = times_[index];
  if (!thread.is_primary() || index + 1 == times_.size()) return;
  times.down_bytes = bytes_of_down_pass<Value>(source, times.coarse_share, true) +
                     grids_.levels()[index].coupling_bytes();
}

template class AdditiveCycle<float>;
template class AdditiveCycle<double>;

}  // namespace weft::solver
