#include "solver/multigrid/cycle_grids.h"

#include <algorithm>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "solver/multigrid/cubic_terms.h"
#include "spmv/grid/grid_box.h"
#include "spmv/modes/run_in_mode.h"

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::GridBox;
using spmv::RowSet;

template <class Value>
CycleGrids<Value>::CycleGrids(const comm_thread::Crew& crew, std::vector<LevelPlan<Value>> plan,
                              const Options& options, perfmodel::PhaseTimer& timer)
    : crew_(crew),
      options_(options),
      memories_(static_cast<std::size_t>(crew.team().thread_count())),
      timer_(timer) {
  levels_.reserve(plan.size());  // they hold references to each other
  for (LevelPlan<Value>& level : plan) levels_.push_back({std::move(level)});
  for (std::size_t i = 0; i < levels_.size(); ++i) make_level(levels_[i], i);
  const Level& last = levels_.back();
  comm_thread::collective_attempt(crew_.communicator(), [&] {
    if (!last.cuts.box(crew_.communicator().rank()).is_empty())
      coarsest_.emplace(last.grid, last.coarsest.get());
  });
  crew_.communicator().barrier();  // both ends of every pair exist
}

template <class Value>
int CycleGrids<Value>::solution_depth(std::size_t index) const {
  const int steps = index > 0 ? options_.steps_on(index - 1) : 0;
  return std::max(steps, options_.has_full_start ? CubicTerms<Value>::reach : 2);
}

template <class Value>
void CycleGrids<Value>::make_level(Level& level, std::size_t index) {
  const comm_thread::Communicator& communicator = crew_.communicator();
  const int rank = communicator.rank();
  const bool is_last = index + 1 == levels_.size();
  const GridBox domain = level.grid.points();
  const GridBox own = level.cuts.box(rank);
  const int threads = crew_.team().thread_count();
  const int f_depth = is_last ? 0 : depth(index);
  const int e_depth = solution_depth(index);
  // Beside a grid that this rank has as a whole are zeros, which a row needs at its ends alone.
  level.f = GridArray<Value>(own, own == domain ? 1 : std::max(f_depth, 1));
  if (index > 0) level.e = GridArray<Value>(own, e_depth);
  if (level.cuts != level.finer_cuts) {
    level.restricted.emplace(level.finer_cuts.box(rank), 1);
    level.correction.emplace(level.finer_cuts.box(rank), e_depth);
  }
  GridArray<Value>& from = level.restriction_target();
  const auto side = [](const LevelCuts& cuts, int depth, GridArray<Value>& array) {
    return typename BoxExchange<Value>::Side{cuts, depth, array.layout(), array.values()};
  };
  level.f_halo.emplace(communicator, domain, side(level.finer_cuts, 0, from),
                       side(level.cuts, f_depth, level.f), threads);
  if (index > 0)
    level.e_halo.emplace(communicator, domain, side(level.cuts, 0, level.e),
                         side(level.finer_cuts, e_depth, level.interpolation_source()), threads);
  if (!is_last) make_passes(level, index);
}

template <class Value>
void CycleGrids<Value>::make_passes(Level& level, std::size_t index) {
  const GridBox domain = level.grid.points();
  const int rank = crew_.communicator().rank();
  const GridBox own = level.cuts.box(rank);
  const int threads = crew_.team().thread_count();
  const int steps = options_.steps_on(index);
  const LevelCouplings<Value>* const couplings = level.couplings.get();
  const bool keeps_x = !UpPass<Value>::repeats_start(steps, couplings);
  if (keeps_x) level.x = GridArray<Value>(own, steps);
  const bool is_corrected_here = !levels_[index + 1].cuts.box(rank).is_empty();
  // The finest residual needs x at one more point on each side.
  const int reach = steps + (index == 0 ? 2 : 1);
  const int made = steps + (keeps_x ? 0 : 1);  // points of x, or of f alone
  const GridBox smoothed = own.is_empty() ? own : grown(own, made, domain);
  level.down = cut_into_tiles(smoothed, own, level.finer_cuts.box(rank), domain, reach, threads,
                              options_.points_in_cache);
  level.up = cut_into_tiles(own, own, is_corrected_here ? own : GridBox{}, domain, steps + 1,
                            threads, options_.points_in_cache);
  level.down_pass.emplace(level.grid, levels_[index + 1].grid, steps, couplings);
  level.up_pass.emplace(level.grid, steps, couplings);
}

template <class Value>
std::size_t CycleGrids<Value>::Level::byte_count() const {
  std::size_t bytes = f.byte_count() + x.byte_count() + e.byte_count();
  if (restricted) bytes += restricted->byte_count();
  if (correction) bytes += correction->byte_count();
  if (f_halo) bytes += f_halo->buffer_bytes();
  if (e_halo) bytes += e_halo->buffer_bytes();
  return bytes;
}

template <class Value>
void CycleGrids<Value>::run_alone(const TeamThread& thread, const spmv::Work& work) const {
  const perfmodel::PhaseScope scope(timer_, thread.index, perfmodel::Phase::local_part);
  work.run(RowSet::all, thread, {});
}

template <class Value>
void CycleGrids<Value>::collective_run(const TeamThread& thread, const spmv::Work& work,
                                       spmv::Halo* halo) const {
  if (halo && !halo->messages().is_empty())
    spmv::run_in_mode(thread, options_.mode, {work, *halo, crew_.comm_thread(), timer_});
  else
    run_alone(thread, work);
  thread.barrier();
}

template <class Value>
void CycleGrids<Value>::solve_coarsest(RowSet part, const TeamThread& thread) {
  if (part != RowSet::interior && thread.is_primary() && coarsest_)
    coarsest_->solve(levels_.back().f, levels_.back().e);
}

template class CycleGrids<float>;
template class CycleGrids<double>;

}  // namespace weft::solver
