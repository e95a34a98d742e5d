#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/checkpoint/packed_rows.h"
#include "solver/report/threaded_report.h"
#include "solver/sweep/disturbance.h"
#include "solver/sweep/sweeper.h"

namespace weft::solver {

/// Sweeps by the threads of one process, without messages between ranks: each thread has a sweeper
/// of its own, whose neighbours are those of the other threads. What a thread has made it copies to
/// a Landing for each neighbour, and the neighbour takes the newest from there.
///
///     thread 1's part   3   own      ──► [landing] ──►   halo of thread 2's part
///                       2   halo     ◄── [landing] ◄──
///     ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
///     thread 0's part   3   halo     ◄── [landing] ◄──
///                       2   own      ──► [landing] ──►   the halo above
///
/// *sync*: all threads make the same sweeps, with a barrier after each; the residual is tested
/// every `check_period` sweeps. Iterations and values have the same bits as those of SyncIteration.
/// *async*: no thread waits for another's sweep; a neighbour's values are whole, of one sweep.
/// *racy*: the same, but a neighbour's values may be any mixture of elements.
///
/// *async* and *racy* keep a running sum of what the threads found last (RunningSquare). Who sees
/// it below the threshold raises a flag; who sees the flag stops. That is a suspicion only, because
/// the parts are of different times: all meet, take each other's values and compute the true
/// residual, and sweep on if it misses the tolerance, which the paper's version does not. So the
/// reported residual is the true one.
/// Source: Bethune et al. 2012, section 3.3.
///
/// Memory ordering: sweepers are their threads' own; values are handed over by a Landing. In lock
/// step there are two of them for each neighbour, for even and odd sweeps, so that nobody who is
/// one barrier ahead replaces what the neighbour takes. The flag is relaxed, because the barrier
/// that follows it orders what is read thereafter.
class ThreadedIteration {
 public:
  enum class Variant { sync, async, racy };

  struct Options {
    Variant variant = Variant::sync;
    double tolerance = 1e-4;
    std::int64_t max_iterations = 1'000'000;  // of any thread
    int check_period = 100;  // sync
    int contribution_period = 10;  // async and racy: residual in every so many-th sweep
    std::vector<Fault> faults = {};  // their "rank" is a thread
    /// Opened for the rows of all sweepers; null: none. The run ends where one asks for that.
    Checkpoints* checkpoints = nullptr;
  };

  /// `sweepers`: one for each thread of `team`, each made for a team of one; a sweeper's neighbours
  /// are numbers of threads. Thread: the main thread, as for `run`. All outlive it.
  /// Throws comm_thread::InputError for options that are out of range.
  ThreadedIteration(const comm_thread::ComputeTeam& team, std::span<Sweeper* const> sweepers,
                    Options options);

  /// Sweeps from the sweepers' current values, or from a checkpoint. `b_norm`: ‖b‖ of all.
  ThreadedReport run(double b_norm);

 private:
  class Run;

  const comm_thread::ComputeTeam& team_;
  std::vector<Sweeper*> sweepers_;  // [threads]
  Options options_;
};

}  // namespace weft::solver
