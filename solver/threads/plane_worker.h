#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "comm_thread/engine/exact_accumulator.h"
#include "solver/report/iteration_report.h"
#include "solver/sweep/disturbance.h"
#include "solver/threads/plane_block.h"
#include "solver/threads/shared_plane.h"

namespace weft::solver {

/// One thread of the threaded Jacobi iteration: sweeps its block, gives its outermost planes away
/// and takes those of its neighbours.
///
///     thread 1's block   z = 3   own, lowest      publish ──► [plane] ──► take
///                        z = 2   ghost            take ◄── [plane] ◄── publish
///     ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
///     thread 0's block   z = 3   ghost            take ◄── (the first)
///                        z = 2   own, highest     publish ──► (the second)
///
/// Blocks are read and written by their own threads only; all that two threads share is a
/// SharedPlane for each way across their boundary.
/// Thread: its own; others while that one does not use it and a barrier lies between.
class alignas(64) PlaneWorker {
 public:
  /// The planes across one side of the block; none at the ends of the grid and in a synchronous
  /// run.
  struct Link {
    SharedPlane* outgoing = nullptr;
    SharedPlane* incoming = nullptr;
    std::int64_t newest = 0;  // the neighbour's sweep that was taken last
  };

  /// Counts of exchanges, as in IterationReport.
  struct Traffic {
    Histogram staleness;
    Histogram batches;
    std::uint64_t sent_count = 0;
    std::uint64_t received_count = 0;
  };

  /// `links`: below, above. Everything outlives it.
  PlaneWorker(PlaneBlock& block, const std::array<Link, 2>& links, Disturbance disturbance);

  /// Publishes the planes of the block, which has been set up and has made so many sweeps.
  void begin(std::int64_t sweep_count);
  void start_clock();

  /// Makes the new values of the whole block, and the residual of the old ones where it is asked
  /// for: the lowest plane, what lies between, the highest plane; each of the two from the newest
  /// plane of the neighbour, and published at once.
  void make_sweep(comm_thread::ExactAccumulator* residual_square);

  /// The values made become the current ones.
  void finish_sweep();

  /// Lets others have the core when sweeps bring nothing, because no neighbour has published since.
  ///
  /// Threads that outnumber the cores would otherwise repeat themselves for whole time slices. It
  /// begins after 16 such sweeps and is a yield, after 200 a nap of about 15 µs.
  void give_way();

  /// Fills both ghost planes. After a barrier at which no sweep was left unfinished these are the
  /// neighbours' current values.
  void take_planes();

  void lap(double IterationTimes::* part);

  PlaneBlock& block() { return block_; }
  std::int64_t sweep_count() const { return sweep_count_; }
  const IterationTimes& times() const { return times_; }
  const Traffic& traffic() const { return traffic_; }

 private:
  using Clock = std::chrono::steady_clock;

  Link& link(Side side) { return links_[static_cast<std::size_t>(side)]; }
  void take(Side side);
  void publish(Side side);
  void sweep(const comm_thread::Share& planes, comm_thread::ExactAccumulator* residual_square);
  void disturb(double swept_seconds);

  PlaneBlock& block_;
  std::array<Link, 2> links_;
  Disturbance disturbance_;
  std::int64_t sweep_count_ = 0;
  bool has_new_planes_ = false;  // since the last `give_way`
  std::uint64_t fruitless_count_ = 0;  // sweeps in a row without
  Traffic traffic_;
  IterationTimes times_;
  Clock::time_point last_lap_;
};

}  // namespace weft::solver
