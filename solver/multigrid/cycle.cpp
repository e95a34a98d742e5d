#include "solver/multigrid/cycle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "perfmodel/thread_trace.h"
#include "solver/multigrid/cycle_bounds.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "spmv/grid/box.h"
#include "spmv/grid/shares.h"
#include "spmv/rows/index.h"

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

Cycle::Cycle(const Options& options, std::span<const GridLevel> grids)
    : times_(grids.size()),
      options_(options),
      finest_(grids.front()),
      least_eigenvalue_(least_eigenvalue_of_cycle(grids, options.steps)) {
  for (std::size_t i = 0; i < times_.size(); ++i) {
    LevelTimes& times = times_[i];
    const bool is_last = i + 1 == grids.size();
    const std::string number = std::to_string(i);
    times.down_name = perfmodel::kept_name(is_last ? "coarsest grid" : "grid " + number + " down");
    times.up_name = perfmodel::kept_name("grid " + number + " up");
    if (is_last) continue;
    times.coarse_share = static_cast<double>(grids[i + 1].point_count()) /
                         static_cast<double>(grids[i].point_count());
  }
}

void Cycle::forget_times() {
  cycles_ = 0;
  for (LevelTimes& times : times_) {
    times.down = {};
    times.up = {};
  }
}

namespace {

template <class Value>
std::vector<GridLevel> grids_of(const std::vector<LevelPlan<Value>>& plan) {
  std::vector<GridLevel> grids;
  for (const LevelPlan<Value>& level : plan) grids.push_back(level.grid);
  return grids;
}

}  // namespace

template <class Value>
CycleOf<Value>::CycleOf(const comm_thread::Communicator& communicator,
                        comm_thread::CommThread& comm_thread, const comm_thread::ComputeTeam& team,
                        std::vector<LevelPlan<Value>> plan, const Options& options, int first_tag,
                        perfmodel::PhaseTimer& timer)
    : Cycle(options, grids_of(plan)),
      grids_(communicator, comm_thread, team, std::move(plan), options, first_tag, timer),
      unit_(communicator, team.thread_count()) {}

template <class Value>
void CycleOf<Value>::collective_apply(const TeamThread& thread, const spmv::GridLayout& layout,
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
CycleReport CycleOf<Value>::report() {
  const auto levels = grids_.levels();
  CycleReport report{.cycles = cycles_,
                     .steps = options().steps_on(0),
                     .coarse_steps = options().steps,
                     .value_bytes = sizeof(Value),
                     .gathering = options().gathering,
                     .allocated_bytes = own_byte_count(),
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

template class CycleOf<float>;
template class CycleOf<double>;

}  // namespace weft::solver
