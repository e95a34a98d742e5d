#include "solver/multigrid/grid_cycle.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/passes/pass_model.h"
#include "solver/multigrid/passes/tiles.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/shares.h"
#include "spmv/modes/work.h"
#include "spmv/rows/index.h"

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::GridBox;
using spmv::RowSet;

namespace {

template <class Value>
std::vector<GridLevel> grids_of(const std::vector<LevelPlan<Value>>& plan) {
  std::vector<GridLevel> grids;
  for (const LevelPlan<Value>& level : plan) grids.push_back(level.grid);
  return grids;
}

}  // namespace

/// The way up to one grid.
template <class Value>
class GridCycle<Value>::UpWork final : public spmv::Work {
 public:
  UpWork(CycleGrids<Value>& grids, std::size_t index, const typename UpPass<Value>::Sink& sink)
      : grids_(grids), index_(index), sink_(sink) {}
  void run(RowSet part, const TeamThread& thread,
           const std::function<void()>& pause) const override {
    typename CycleGrids<Value>::Level& level = grids_.levels()[index_];
    for_each_tile(level.up, part, thread, [&](const PassTile& tile) {
      level.up_pass->run(tile, level.f, level.x, grids_.levels()[index_ + 1].interpolation_source(),
                         sink_, grids_.memory(thread), pause);
    });
  }

 private:
  CycleGrids<Value>& grids_;
  std::size_t index_;
  typename UpPass<Value>::Sink sink_;
};

template <class Value>
GridCycle<Value>::GridCycle(const comm_thread::Communicator& communicator,
                            comm_thread::CommThread& comm_thread,
                            const comm_thread::ComputeTeam& team,
                            std::vector<LevelPlan<Value>> plan, const Options& options,
                            perfmodel::PhaseTimer& timer)
    : Cycle(options, grids_of(plan)),
      grids_(communicator, comm_thread, team, std::move(plan), options, timer),
      unit_(communicator, team.thread_count()) {}

template <class Value>
void GridCycle<Value>::descend_from(const TeamThread& thread, std::size_t index,
                                    const typename DownPass<Value>::Source& source,
                                    spmv::Halo* halo) {
  typename CycleGrids<Value>::Level& level = grids_.levels()[index];
  LevelTimes& times = times_[index];
  const TimedPass timed(grids_.timer(), thread, times.down, times.down_name);
  const bool is_last = index + 1 == grids_.levels().size();
  if (thread.is_primary() && !is_last)
    times.down_bytes = bytes_of_down_pass<Value>(source, times.coarse_share, !level.x.is_empty()) +
                       level.coupling_bytes();
  if (halo == &*level.f_halo && index > 0) level.f_halo->copy_own(thread);
  if (is_last)
    grids_.collective_run(thread, typename CycleGrids<Value>::CoarsestWork(grids_), halo);
  else
    grids_.collective_run(thread, typename CycleGrids<Value>::DownWork(grids_, index, source),
                          halo);
}

template <class Value>
void GridCycle<Value>::collective_descend(const TeamThread& thread,
                                          const typename DownPass<Value>::Source& source,
                                          spmv::Halo* halo) {
  const auto levels = grids_.levels();
  descend_from(thread, 0, source, halo);
  for (std::size_t i = 1; i < levels.size(); ++i)
    descend_from(thread, i, {.array = &levels[i].f}, &*levels[i].f_halo);
}

template <class Value>
void GridCycle<Value>::ascend_to(const TeamThread& thread, std::size_t index,
                                 const typename UpPass<Value>::Sink& sink) {
  typename CycleGrids<Value>::Level& level = grids_.levels()[index];
  LevelTimes& times = times_[index];
  BoxExchange<Value>& halo = *grids_.levels()[index + 1].e_halo;
  const TimedPass timed(grids_.timer(), thread, times.up, times.up_name);
  if (thread.is_primary())
    times.up_bytes = bytes_of_up_pass<Value>(sink, times.coarse_share, !level.x.is_empty()) +
                     level.coupling_bytes();
  halo.copy_own(thread);
  grids_.collective_run(thread, UpWork(grids_, index, sink), &halo);
}

template <class Value>
void GridCycle<Value>::collective_ascend(const TeamThread& thread,
                                         const typename UpPass<Value>::Sink& sink) {
  const auto levels = grids_.levels();
  for (std::size_t i = levels.size() - 1; i > 1; --i)
    ascend_to(thread, i - 1, {.array = &levels[i - 1].e});
  ascend_to(thread, 0, sink);
  if (thread.is_primary()) ++cycles_;
}

template <class Value>
void GridCycle<Value>::collective_cycle_from(const TeamThread& thread, std::size_t index) {
  const auto levels = grids_.levels();
  const std::size_t last = levels.size() - 1;
  for (std::size_t i = index; i <= last; ++i)
    descend_from(thread, i, {.array = &levels[i].f}, i > index ? &*levels[i].f_halo : nullptr);
  for (std::size_t i = last; i > index; --i) ascend_to(thread, i - 1, {.array = &levels[i - 1].e});
}

template <class Value>
void GridCycle<Value>::collective_apply(const TeamThread& thread, const spmv::GridLayout& layout,
                                        const double* r, double* z) {
  const auto for_each_row = [&](const auto& work) {
    for (const GridBox& box : spmv::share_of_rows(layout.own(), thread.index, thread.count))
      for (spmv::GlobalIndex row_z = box.begin[2]; row_z < box.end[2]; ++row_z)
        for (spmv::GlobalIndex row_y = box.begin[1]; row_y < box.end[1]; ++row_y)
          work(box, row_y, row_z,
               std::span(r + layout.index(box.begin[0], row_y, row_z),
                         static_cast<std::size_t>(box.size(0))));
  };
  unit_.collective_choose(thread, 0, finest().scale, [&] {
    double largest = 0;
    for_each_row([&](const GridBox&, spmv::GlobalIndex, spmv::GlobalIndex, const auto& row) {
      for (const double value : row) largest = std::max(largest, std::abs(value));
    });
    return largest;
  });
  GridArray<Value>& f = right_hand_side();
  const double factor = unit_.value(0) / finest().scale;
  for_each_row(
      [&](const GridBox& box, spmv::GlobalIndex row_y, spmv::GlobalIndex row_z, const auto& row) {
        Value* const to = f.row(row_y, row_z) + box.begin[0];
        for (std::size_t i = 0; i < row.size(); ++i) to[i] = static_cast<Value>(factor * row[i]);
      });
  thread.barrier();
  collective_descend(thread, {.array = &f}, &right_hand_side_halo());
  collective_ascend(thread, {.layout = &layout, .values = z, .factor = 1 / unit_.value(0)});
}

template <class Value>
CycleReport GridCycle<Value>::report() {
  const auto levels = grids_.levels();
  CycleReport report{.cycles = cycles_,
                     .steps = options().steps_on(0),
                     .coarse_steps = options().steps,
                     .value_bytes = sizeof(Value),
                     .gathering = options().gathering,
                     .allocated_bytes = 0,
                     .levels = {}};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    typename CycleGrids<Value>::Level& level = levels[i];
    const LevelTimes& times = times_[i];
    const GridBox points = level.grid.points();
    const auto own =
        static_cast<double>(level.cuts.box(grids_.communicator().rank()).point_count());
    const auto pass = [&](const PassTimes& of_pass, double bytes_per_point) {
      return PassReport{.times = of_pass, .model_bytes = bytes_per_point * own};
    };
    const auto note_exchange = [](PassReport& of, BoxExchange<Value>& halo) {
      of.sent_bytes = halo.traffic().sent_bytes;
      of.sent_messages = static_cast<int>(halo.traffic().send_count);
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

template class GridCycle<float>;
template class GridCycle<double>;

}  // namespace weft::solver
