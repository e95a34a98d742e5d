#pragma once

#include <cstddef>
#include <span>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/sweep/kept_state.h"
#include "solver/sweep/tile_judge.h"

namespace weft::solver {

/// The points of a rank's part that need no halo, those that do, or both.
enum class SweepPart { all, interior, boundary };

/// The current values of a part and its halo, or the copy of them that was recorded last.
enum class SweepState { current, recorded };

/// What belongs to one neighbour in a buffer for all of them, or from all of them.
template <class Value>
std::span<Value> sent_part(const comm_thread::HaloNeighbour& to, std::span<Value> all) {
  return all.subspan(static_cast<std::size_t>(to.send_begin),
                     static_cast<std::size_t>(to.send_count));
}
template <class Value>
std::span<Value> received_part(const comm_thread::HaloNeighbour& from, std::span<Value> all) {
  return all.subspan(static_cast<std::size_t>(from.receive_begin),
                     static_cast<std::size_t>(from.receive_count));
}

/// One rank's part of a linear system A·x = b, as a stationary iteration sees it: current values,
/// a halo of the neighbours' values, and a sweep that makes new values from both.
///
///     every thread:  sweeper.sweep(thread, SweepPart::all, &squares);
///                    thread.barrier();
///     primary:       sweeper.finish_sweep();
///     every thread:  thread.barrier();
///                    for each neighbour: sweeper.pack(thread, current, neighbour, outgoing);
///
/// The synchronous iteration (SyncIteration) and the asynchronous one (AsyncIteration) drive grids,
/// matrices and block solves alike through it. Thread: every thread of the team calls, each does
/// its share; what waits for the team says so. Between a call that writes and one that reads the
/// same values the caller puts a team barrier. `add_residual` may use the room of the new values:
/// not between a sweep and its `finish_sweep`.
class Sweeper {
 public:
  virtual ~Sweeper() = default;

  virtual const comm_thread::ComputeTeam& team() const = 0;

  /// The ranks that values go to and come from: they differ, and ascend. The ranges tile one send
  /// buffer and one receive buffer.
  virtual std::span<const comm_thread::HaloNeighbour> neighbours() const = 0;

  /// Copies the values that neighbour number `neighbour` needs. Shape: out: [send_count].
  virtual void pack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
                    std::span<double> out) const = 0;

  /// Makes `in` the halo values from neighbour number `neighbour`. Shape: in: [receive_count].
  virtual void unpack(const comm_thread::TeamThread& thread, SweepState state,
                      std::size_t neighbour, std::span<const double> in) = 0;

  /// Makes the new values of this thread's share of `part`. Where `residual_square` is given, the
  /// squares of b − A·x of the *current* values there are added to it. Of `boundary` and `all` all
  /// threads call alike: a sweep that solves uses the team's barrier.
  virtual void sweep(const comm_thread::TeamThread& thread, SweepPart part,
                     comm_thread::ExactAccumulator* residual_square) = 0;

  /// The new values, all of which have been made, are the current ones from now on.
  /// Thread: the primary one.
  virtual void finish_sweep() = 0;

  /// Adds the squares of b − A·x of the values and their halo; changes neither.
  virtual void add_residual(const comm_thread::TeamThread& thread, SweepState state,
                            comm_thread::ExactAccumulator& residual_square) = 0;

  /// Records the current values, without the halo, for a snapshot of the global state.
  virtual void record(const comm_thread::TeamThread& thread) = 0;

  /// The number of sweeps that one halo lasts: more than one where it is that many points deep.
  virtual int sweeps_per_exchange() const { return 1; }

  /// Makes `count` whole sweeps and their `finish_sweep` from one halo, at most
  /// `sweeps_per_exchange`; any number where there are no neighbours. Uses the team's barrier.
  virtual void advance(const comm_thread::TeamThread& thread, int count);

  /// Null, or the judge of tiles, each of which has to converge by itself: the iteration then ends
  /// when all tiles of all ranks have, and otherwise when the residual of the whole is small
  /// enough. The same on all ranks.
  virtual TileJudge* tile_judge() { return nullptr; }

  /// Null, or what a checkpoint keeps.
  virtual KeptState* kept_state() { return nullptr; }
};

}  // namespace weft::solver
