#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/checkpoint/packed_rows.h"
#include "solver/threads/shared_plane.h"
#include "spmv/grid/diffusion_problem.h"
#include "spmv/grid/grid_layout.h"

namespace weft::solver {

/// Direction along z: towards the planes that come before, or those that come after.
enum class Side { below, above };

/// Whole planes of the diffusion grid that belong to one thread, in two arrays that take turns.
///
///     z = 4   ghost   boundary values, or the lowest plane of the thread above
///     z = 3   own
///     z = 2   own
///     z = 1   ghost   boundary values, or the highest plane of the thread below
///
/// Thread: its owner.
class alignas(64) PlaneBlock {
 public:
  /// No thread has touched large arrays yet. `problem` outlives it.
  PlaneBlock(const spmv::DiffusionProblem& problem, const comm_thread::Share& planes);

  comm_thread::Share planes() const { return {layout_.own().begin[2], layout_.own().end[2]}; }

  /// Start and boundary values, in both arrays.
  void set_up();

  /// For checkpoints: the own points, for which `thread` stands in `rows`, are copied from the
  /// current values, or to both arrays.
  const spmv::GridLayout& layout() const { return layout_; }
  void save(const comm_thread::TeamThread& thread, const PackedRows& rows, double* packed) const {
    rows.pack(thread, arrays_[current_].data(), packed);
  }
  void load(const comm_thread::TeamThread& thread, const PackedRows& rows, const double* packed) {
    for (auto& array : arrays_) rows.unpack(thread, packed, array.data());
  }

  /// Makes the new values of some planes; with `residual_square` also adds the residual of the old
  /// ones there.
  void sweep(const comm_thread::Share& planes, comm_thread::ExactAccumulator* residual_square);

  /// The values made become the current ones.
  void finish_sweep() { current_ = 1 - current_; }

  /// Adds the squares of the residual of the current values.
  void add_residual(comm_thread::ExactAccumulator& residual_square) const;

  /// Gives away the outermost own plane as just made.
  void publish(Side side, SharedPlane& plane, std::int64_t sweep) const;

  /// Fills the current ghost plane; returns the sweep that it is from.
  std::int64_t take(Side side, SharedPlane& plane);

  /// Fills the current ghost plane straight from the block on that side.
  ///
  /// Memory ordering: both threads finished the same number of sweeps before a common barrier, and
  /// neither passes the next one before this returns; meanwhile the neighbour writes to the other
  /// array, and in this one to its ghosts alone.
  void copy_ghosts(Side side, const PlaneBlock& neighbour);

  /// The current value of an own point, by global coordinates.
  double value(spmv::GlobalIndex x, spmv::GlobalIndex y, spmv::GlobalIndex z) const {
    return arrays_[current_][layout_.index(x, y, z)];
  }

 private:
  spmv::GlobalIndex outermost(Side side) const;
  /// The first point of plane z.
  std::size_t first_of(spmv::GlobalIndex z) const { return layout_.index(0, 0, z); }

  const spmv::DiffusionProblem& problem_;
  spmv::GridLayout layout_;
  double source_square_;  // of the whole grid
  std::array<perfmodel::HugePageBuffer<double>, 2> arrays_;
  std::size_t current_ = 0;
};

}  // namespace weft::solver
