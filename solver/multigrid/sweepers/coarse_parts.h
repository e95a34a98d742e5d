#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "solver/multigrid/passes/pass_memory.h"
#include "solver/multigrid/sweepers/coarse_boxes.h"
#include "spmv/grid/box.h"
#include "spmv/grid/partition.h"

namespace weft::solver {

/// One rank's part of the grids between the finest one and the one that rank 0 solves, in
/// asynchronous multigrid.
///
///     down    its share of the next grid's right-hand side is restricted from grid to grid; that
///             needs nothing of other ranks, and each share follows from one state of one rank
///     up      right-hand sides are the sums of its own shares and its neighbours'; interpolation
///             and smoothing, of some points of the neighbours as well: so there is one message a
///             correction, that of the halo, with the shares of all grids
///
/// Grids are smoothed on the way up only, because smoothing before would need right-hand sides of
/// the neighbours in the middle of a cycle.
/// Shares are in double precision: they are large at the boundary of a rank and cancel.
class CoarseParts {
 public:
  /// `neighbours`: ranks, in the order in which shares are given below. `levels` outlives this.
  CoarseParts(const std::vector<GridLevel>& levels, const spmv::GridPartition& partition, int rank,
              std::span<const int> neighbours, int halo_depth, int steps, std::size_t gathered,
              const comm_thread::ComputeTeam& team);
  CoarseParts(const CoarseParts&) = delete;
  CoarseParts& operator=(const CoarseParts&) = delete;

  const CoarseBoxes& boxes() const { return boxes_; }

  /// This rank's share of grid 1, for the caller to write; of the gathered grid after `restrict`.
  std::span<double> first_share() { return shares_[1]; }
  std::span<const double> last_share() const { return shares_.back(); }
  /// Thread: every thread of the team, after a barrier. Ends with one.
  void restrict_shares(const comm_thread::TeamThread& thread);

  /// Shares of all these grids in a message to a neighbour, and from it.
  std::size_t sent_count(std::size_t neighbour) const { return ends_[neighbour].sent_count; }
  std::size_t received_count(std::size_t neighbour) const {
    return ends_[neighbour].received_count;
  }
  /// Shape: out: [sent_count]. Thread: every thread of the team.
  void pack(const comm_thread::TeamThread& thread, std::size_t neighbour,
            std::span<double> out) const;
  /// What `solve` uses of a neighbour. Shape: [received_count]. Thread: the primary one.
  void set_shares(std::size_t neighbour, std::span<const double> shares) {
    ends_[neighbour].shares = shares;
  }

  /// The solution on the gathered grid, for the caller to write at `boxes().corrected`.
  GridArray<float>& last_solution() { return solutions_.back(); }
  /// The solution on grid 1, at `boxes().corrected`.
  const GridArray<float>& first_solution() const { return solutions_[1]; }
  /// Thread: every thread of the team, after a barrier. Ends with one.
  void solve(const comm_thread::TeamThread& thread, PassMemory<float>& memory);

  std::size_t byte_count() const;

 private:
  struct Piece {
    std::size_t grid = 0;
    spmv::GridBox points;
    std::size_t place = 0;  // of its first value in a message
  };
  struct End {
    std::vector<Piece> sent;
    std::vector<Piece> received;
    std::size_t sent_count = 0;
    std::size_t received_count = 0;
    std::span<const double> shares;
  };
  struct Part {
    UpPass<float> up;
    GridArray<float> f;
    std::vector<std::vector<PassTile>> tiles;  // [threads]
  };

  void restrict_share(const comm_thread::TeamThread& thread, std::size_t grid);
  void add_shares(const comm_thread::TeamThread& thread, std::size_t grid);

  const std::vector<GridLevel>& levels_;
  CoarseBoxes boxes_;
  std::vector<End> ends_;  // [neighbours]
  std::vector<std::vector<double>> shares_;  // [gathered + 1], at `boxes_.shares`
  std::vector<GridArray<float>> solutions_;  // [gathered + 1]
  std::vector<Part> parts_;  // of grid 1 and on
  GridArray<float> nothing_;
  std::vector<std::vector<double>> rows_;  // [threads]
};

}  // namespace weft::solver
