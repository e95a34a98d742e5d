#include "solver/multigrid/grid_cycle.h"

#include <functional>
#include <utility>

#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/passes/pass_model.h"
#include "solver/multigrid/passes/tiles.h"
#include "spmv/modes/work.h"

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::RowSet;

namespace {

/// Of the messages: operands of an operator count theirs from 0.
constexpr int first_cycle_tag = 2000;

CycleOptions multiplicative(CycleOptions options) {
  options.is_additive = false;
  return options;
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
    : CycleOf<Value>(communicator, comm_thread, team, std::move(plan), multiplicative(options),
                     first_cycle_tag, timer) {}

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

template class GridCycle<float>;
template class GridCycle<double>;

}  // namespace weft::solver
