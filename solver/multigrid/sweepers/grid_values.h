#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/checkpoint/packed_rows.h"
#include "solver/sweep/kept_grid.h"
#include "spmv/grid/layout.h"
#include "spmv/grid/partition.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::solver {

/// Calls row(first element of a row, place of its first value in the buffer, number of values) for
/// the rows of `box` in the order of a message, those of `thread` only.
template <class Row>
void for_each_row_of(const comm_thread::TeamThread& thread, const spmv::GridLayout& layout,
                     const spmv::GridBox& box, const Row& row) {
  if (box.is_empty()) return;
  const spmv::GlobalIndex rows = box.size(1);
  const auto [begin, end] = comm_thread::share_of(rows * box.size(2), thread.index, thread.count);
  for (spmv::GlobalIndex i = begin; i < end; ++i)
    row(layout.index(box.begin[0], box.begin[1] + i % rows, box.begin[2] + i / rows),
        static_cast<std::size_t>(i * box.size(0)), static_cast<std::size_t>(box.size(0)));
}

/// One rank's values and right-hand side of a grid problem, in double precision, with a halo
/// several points deep, as multigrid sweepers keep them.
/// Lifetime: `op` outlives it.
class GridValues {
 public:
  using Array = perfmodel::HugePageBuffer<double>;

  /// Values are 0. `b`: in the layout of `op`; `depth`: of the halo. Collective. Thread: the main
  /// thread, outside the team. Throws comm_thread::InputError, on every rank, where one has fewer
  /// points than the halo is deep.
  GridValues(spmv::StencilOperator& op, std::span<const double> b, int depth);

  const spmv::StencilOperator& op() const { return op_; }
  const comm_thread::ComputeTeam& team() const { return op_.team(); }
  const spmv::GridLayout& layout() const { return layout_; }
  const double* b() const { return b_.data(); }
  double* x() { return x_.data(); }
  const double* x() const { return x_.data(); }
  /// `values` become the current ones, and the current ones are what they were.
  void swap_values(Array& values) { std::swap(x_, values); }
  /// What `record` has copied; null before.
  const double* recorded() const { return recorded_.data(); }
  double* recorded() { return recorded_.data(); }

  /// For checkpoints.
  PackedRows rows() const {
    return pack_grid(layout_, op_.partition().domain(), team().thread_count());
  }

  /// ‖b‖², the same bits on any ranks. Collective. Thread: the main thread, outside the team.
  double collective_b_square() const;

  std::span<const spmv::GridNeighbour> boxes() const { return boxes_; }
  std::span<const comm_thread::HaloNeighbour> neighbours() const { return neighbours_; }

  /// Copies a box of `values` to a message, or back. Thread: every thread of the team.
  void pack(const comm_thread::TeamThread& thread, const double* values, const spmv::GridBox& box,
            std::span<double> out) const;
  void unpack(const comm_thread::TeamThread& thread, double* values, const spmv::GridBox& box,
              std::span<const double> in) const;

  /// Copies the own values. Thread: every thread of the team; a barrier for the first time.
  void record(const comm_thread::TeamThread& thread);

 private:
  spmv::StencilOperator& op_;
  std::vector<spmv::GridNeighbour> boxes_;
  std::vector<comm_thread::HaloNeighbour> neighbours_;
  spmv::GridLayout layout_;
  Array b_;
  Array x_;
  Array recorded_;
};

}  // namespace weft::solver
