#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"

namespace weft::solver {

/// Which points of a sweeper: those that need no halo, those that do, or both.
enum class SweepPart { all, interior, boundary };

/// One rank's part of a linear system A·x = b, as a stationary iteration sees it: current values,
/// a halo of the neighbours' values, and a sweep that makes new values from both.
///
///     every thread:  sweeper.sweep(thread, SweepPart::all, &squares);
///                    thread.barrier();
///     primary:       sweeper.finish_sweep();
///     every thread:  thread.barrier();
///                    for each neighbour: sweeper.pack(thread, neighbour, outgoing);
///
/// The lock-step iteration (SyncIteration) and the one that never waits (AsyncIteration) drive
/// grids, matrices and block solves alike through it. Thread: every thread of the team calls, each
/// does its share; what waits for the team says so. Between a call that writes and one that reads
/// the same values the caller puts a team barrier. `add_residual` and `add_residual_of_record` may
/// use the room of the new values: not between a sweep and its `finish_sweep`.
class Sweeper {
 public:
  virtual ~Sweeper() = default;

  virtual const comm_thread::ComputeTeam& team() const = 0;

  /// Whom values go to and come from: ranks that differ, ascending. The ranges tile one send buffer
  /// and one receive buffer.
  virtual std::span<const comm_thread::HaloNeighbour> neighbours() const = 0;

  /// Copies what neighbour number `neighbour` needs of the current values. Shape: out:
  /// [send_count].
  virtual void pack(const comm_thread::TeamThread& thread, std::size_t neighbour,
                    std::span<double> out) const = 0;

  /// Makes `in` the halo values from neighbour number `neighbour`. Shape: in: [receive_count].
  virtual void unpack(const comm_thread::TeamThread& thread, std::size_t neighbour,
                      std::span<const double> in) = 0;

  /// Makes the new values of this thread's share of `part`. Where `residual_square` is given, the
  /// squares of b − A·x of the *current* values there are added to it. Of `boundary` and `all` all
  /// threads call alike: a sweep that solves uses the team's barrier.
  virtual void sweep(const comm_thread::TeamThread& thread, SweepPart part,
                     comm_thread::ExactAccumulator* residual_square) = 0;

  /// The new values, all of which have been made, are the current ones from now on.
  /// Thread: the primary one.
  virtual void finish_sweep() = 0;

  /// Adds the squares of b − A·x of the current values and the halo; changes neither.
  virtual void add_residual(const comm_thread::TeamThread& thread,
                            comm_thread::ExactAccumulator& residual_square) = 0;

  /// Whether every part of the sweeper has to converge by itself (`unconverged_count`), and the
  /// iteration ends when all of all ranks have; otherwise it ends when the residual of the whole is
  /// small enough. The same on all ranks.
  virtual bool judges_parts() const { return false; }

  /// Brings residuals of parts in the share of this thread up to date after a sweep, until one has
  /// not converged, which is the first that is looked at the next time: so that asking after every
  /// sweep costs little before the end. For iterations that do not wait.
  virtual void judge_parts(const comm_thread::TeamThread& thread) { static_cast<void>(thread); }

  /// How many parts in the share of a thread had not converged when their residuals were computed
  /// last. Thread: that one, or any after a team barrier.
  virtual std::int64_t unconverged_count(int thread) const {
    static_cast<void>(thread);
    return 0;
  }

  /// Ends what travels beside the halos, if there is any such thing: before halos are refreshed for
  /// a verification, and before the end. Thread: every thread of the team. Collective.
  virtual void collective_settle(const comm_thread::TeamThread& thread) {
    static_cast<void>(thread);
  }

  /// How many sweeps one halo lasts: more than one where it is that many points deep.
  virtual int sweeps_per_exchange() const { return 1; }

  /// `count` whole sweeps and their `finish_sweep` from one halo, at most `sweeps_per_exchange`;
  /// any number where there are no neighbours. Uses the team's barrier.
  virtual void advance(const comm_thread::TeamThread& thread, int count) = 0;

  /// Keeps a copy of the current values, for a snapshot of the global state.
  virtual void record(const comm_thread::TeamThread& thread) = 0;

  /// Copies what a neighbour needs of the copy. Shape: out: [send_count].
  virtual void pack_record(const comm_thread::TeamThread& thread, std::size_t neighbour,
                           std::span<double> out) const = 0;

  /// Adds the squares of b − A·x of the copy and of the neighbours' copies, `halo`.
  /// Shape: halo: the neighbours' receive ranges tile it. Uses the team's barrier.
  virtual void add_residual_of_record(const comm_thread::TeamThread& thread,
                                      std::span<const double> halo,
                                      comm_thread::ExactAccumulator& residual_square) = 0;
};

}  // namespace weft::solver
