#pragma once

#include <cstdint>

#include "comm_thread/placement/compute_team.h"

namespace weft::solver {

/// Judges the tiles of a sweeper, each of which has to converge by itself.
class TileJudge {
 public:
  virtual ~TileJudge() = default;

  /// Brings residuals of tiles in the share of this thread up to date after a sweep, until one has
  /// not converged, which is the first that is looked at the next time: so that asking after every
  /// sweep costs little before the end. For asynchronous iterations.
  virtual void judge(const comm_thread::TeamThread& thread) = 0;

  /// The number of tiles in the share of a thread that had not converged when their residuals were
  /// computed last. Thread: that one, or any after a team barrier.
  virtual std::int64_t unconverged_count(int thread) const = 0;

  /// Ends what travels beside the halos, if there is any such thing: before halos are refreshed for
  /// a verification, and before the end. Thread: every thread of the team. Collective.
  virtual void collective_settle(const comm_thread::TeamThread& thread) {
    static_cast<void>(thread);
  }
};

}  // namespace weft::solver
