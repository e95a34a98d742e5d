#pragma once

#include <array>
#include <cstddef>

#include "comm_thread/placement/compute_team.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/grid/stencil.h"
#include "spmv/problems/problem.h"

namespace weft::solver {

/// The finest grid of a cycle, turned so that rows are long: a row costs a pass as much as 50
/// points do, beside its own.
///
///     37×211×64   →   211×37×64      x and the longest direction have changed places; each rank
///                                    has the same points
///
/// So are grids of which only x is coarsened: the rows of coarse grids stay as long as those of the
/// finest one. It depends on the size and the couplings of the grid alone, so that the bits do not
/// depend on ranks.
class TurnedGrid {
 public:
  /// The direction that x changes places with; 0 where the rows are long enough as they are.
  static std::size_t direction_for(const spmv::GridStencil& stencil);

  /// Of `rank`. Throws std::bad_alloc.
  TurnedGrid(const spmv::GridStencil& stencil, const spmv::GridPartition& partition, int rank);

  bool is_turned() const { return direction_ != 0; }
  const spmv::GridStencil& stencil() const { return stencil_; }
  const spmv::GridPartition& partition() const { return partition_; }
  /// One ghost point around the rank's own.
  const spmv::GridLayout& layout() const { return layout_; }

  /// Where a point of this grid is in an array of the operator's layout.
  std::size_t index_in(const spmv::GridLayout& given, std::array<spmv::GlobalIndex, 3> at) const;

  /// The own points of an array of the operator's layout, turned; and back. Every thread of the
  /// team has its share of the rows that are written; no barrier.
  void turn(const comm_thread::TeamThread& thread, const spmv::GridLayout& given,
            const double* from, double* to) const;
  void turn_back(const comm_thread::TeamThread& thread, const double* from,
                 const spmv::GridLayout& given, double* to) const;

 private:
  void exchange(const comm_thread::TeamThread& thread, const spmv::GridLayout& from_layout,
                const double* from, const spmv::GridLayout& to_layout, double* to) const;

  std::size_t direction_;
  spmv::GridStencil stencil_;
  spmv::GridPartition partition_;
  spmv::GridLayout layout_;
};

}  // namespace weft::solver
