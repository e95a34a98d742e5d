#pragma once

#include "comm_thread/placement/compute_team.h"
#include "solver/report/iteration_timer.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// A rank's way to wait for the halos of several neighbours: for all of them before it copies any,
/// or for each in turn, copying what has come while others are on their way. Source: Yamazaki et
/// al. 2019, section 3 (MPI_Waitall and MPI_Wait).
enum class HaloWait { all, each };

/// Refreshes the halo of a sweeper with the current values of its neighbours, who do the same.
///
///     halo.start(thread, mode, timer);   // pack, barrier; the exchange begins
///     sweeper.sweep(thread, SweepPart::interior, nullptr);
///     halo.finish(thread, timer);        // wait, barrier, unpack, barrier
///     sweeper.sweep(thread, SweepPart::boundary, nullptr);
///
/// Thread: every thread of the team, with a barrier between the last change of the values and
/// `start`. Where there are no neighbours nothing is done, and nobody waits.
class HaloRefresh {
 public:
  virtual ~HaloRefresh() = default;

  virtual bool has_neighbours() const = 0;

  /// In task mode the communication thread exchanges, in the others the primary thread, as far as
  /// what carries the halo can do without the communication thread.
  virtual void start(const comm_thread::TeamThread& thread, spmv::Mode mode,
                     IterationTimer& timer) = 0;

  /// Returns when the halo may be read. Throws MpiError.
  virtual void finish(const comm_thread::TeamThread& thread, IterationTimer& timer) = 0;
};

}  // namespace weft::solver
