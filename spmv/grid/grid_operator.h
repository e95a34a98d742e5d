#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/grid/vector.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/modes/local_rows.h"

namespace weft::spmv {

/// A linear operator on the points of a grid, without a matrix: a box of points per rank, cut in
/// three directions, vectors with ghost points, halos by the same exchange and in the same modes as
/// those of matrices. What a point is computed from is up to the derived class.
///
///     rank 0 of 2, 4×3 points:   g g g g g .        own points o, ghosts g: beyond the grid 0,
///                                g o o o o r        r from rank 1; segments are the rows of o
///                                g o o o o r
///
/// Lifetime: `communicator`, `comm_thread` and `team` outlive it.
class GridOperator : public LinearOperator, public LocalRows {
 public:
  /// Points of a row: sums carry once a row.
  static constexpr GlobalIndex longest_row = 1 << 16;

  const GridSize& grid() const { return grid_; }
  const GridPartition& partition() const { return partition_; }
  const GridLayout& layout() const { return layout_; }
  /// Own points that need no neighbour's.
  const GridBox& inner() const { return inner_; }
  /// Neighbours that values are exchanged with.
  std::span<const GridNeighbour> halo_neighbours() const { return halo_.neighbours; }
  /// Points that wait for the halo.
  std::int64_t boundary_row_count() const {
    return layout_.own().point_count() - inner_.point_count();
  }
  /// Of the matrix that it stands for.
  virtual std::int64_t nonzero_count() const = 0;
  /// "7-point stencil, no matrix, 2x1x1 boxes"
  virtual std::string format_name() const = 0;
  /// What it keeps in the place of a matrix, on this rank.
  virtual std::int64_t stored_bytes() const { return 0; }

  const comm_thread::Communicator& communicator() const override { return communicator_; }
  comm_thread::CommThread& comm_thread() const override { return comm_thread_; }
  const comm_thread::ComputeTeam& team() const override { return team_; }
  std::size_t element_count() const override { return layout_.element_count(); }
  std::span<const Segment> segments(int thread) const override {
    return segments_[static_cast<std::size_t>(thread)];
  }
  const LocalRows& local_rows() const override { return *this; }
  std::int64_t global_row_count() const override { return grid_.x * grid_.y * grid_.z; }
  std::unique_ptr<Operand> collective_make_operand() override;
  void apply(const comm_thread::TeamThread& thread, Mode mode, Operand& x, double* y,
             perfmodel::PhaseTimer& timer, RowSum x_dot_y) const override;
  std::int64_t global_row(std::size_t element) const override;

  void multiply_in_pieces(RowSet set, const comm_thread::TeamThread& thread, const double* x,
                          double* y, RowSum x_dot_y,
                          const std::function<void()>& pause) const override;

 protected:
  /// `has_corners`: a point needs those at the corners, too. Throws comm_thread::InputError, on
  /// every rank, where the grid has too few points, or too many in x.
  GridOperator(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
               const comm_thread::ComputeTeam& team, const GridSize& grid, bool has_corners);

  /// y = A·x at the points of `box`, by one thread; arguments as of `multiply_in_pieces`.
  virtual void multiply_box(const GridBox& box, const double* x, double* y, RowSum x_dot_y,
                            const std::function<void()>& pause) const = 0;
  /// "2x1x1 boxes"
  std::string boxes_name() const;

 private:
  const comm_thread::Communicator& communicator_;
  comm_thread::CommThread& comm_thread_;
  const comm_thread::ComputeTeam& team_;
  GridSize grid_;
  GridPartition partition_;
  GridLayout layout_;
  GridHalo halo_;
  GridBox inner_;
  std::vector<std::vector<GridBox>> shares_;  // own points of every thread
  std::vector<std::vector<Segment>> segments_;
};

}  // namespace weft::spmv
