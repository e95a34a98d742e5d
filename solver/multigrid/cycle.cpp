#include "solver/multigrid/cycle.h"

#include <cstddef>
#include <string>

#include "perfmodel/thread_trace.h"
#include "solver/multigrid/cycle_bounds.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::ThreadTrace;

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

}  // namespace weft::solver
