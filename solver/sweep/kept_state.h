#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/checkpoint/packed_rows.h"

namespace weft::solver {

/// The part of a sweeper that a checkpoint keeps: whole vectors, from which the sweeps go on as if
/// they had never been interrupted, on any number of ranks and threads as far as the sweeper's bits
/// are the same there.
///
/// Thread: the main thread, outside the team, where not said otherwise. `save` and `load` are
/// called by every thread of the team between two sweeps, with a barrier before and after.
class KeptState {
 public:
  virtual ~KeptState() = default;

  /// The places of this rank's rows in its values and in the whole vector.
  virtual PackedRows rows() const = 0;
  virtual std::size_t vector_count() const { return 1; }
  /// Numbers that are the same on all ranks and belong to the state. At most
  /// CheckpointHeader::most_scalars.
  virtual std::vector<double*> scalars() { return {}; }
  /// The state is whole after so many sweeps, and after multiples of it. Asynchronous iterations
  /// keep it after any sweep, because they need no bits of one run.
  virtual int sweeps_between() const { return 1; }

  /// Copies the current values to `packed`. Shape: packed: [rows.count()].
  virtual void save(const comm_thread::TeamThread& thread, const PackedRows& rows,
                    std::size_t vector, double* packed) = 0;
  /// Makes `packed` the current values, without the halo, which the caller refreshes. `sweep`: the
  /// number of sweeps that have led to them.
  virtual void load(const comm_thread::TeamThread& thread, const PackedRows& rows,
                    std::size_t vector, const double* packed, std::int64_t sweep) = 0;
};

/// Begins to write the current values as a checkpoint. Every thread of the team, between two
/// sweeps; ends with a barrier.
void collective_keep(Checkpoints& checkpoints, const comm_thread::TeamThread& thread,
                     std::int64_t iteration, KeptState& state);

/// Makes the state that was read, if there is one, the current values; returns the iteration that
/// led to it, else 0. Every thread of the team; the caller refreshes the halo.
std::int64_t collective_restore(Checkpoints& checkpoints, const comm_thread::TeamThread& thread,
                                KeptState& state);

}  // namespace weft::solver
