#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/neighbour_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/rows/partition.h"

namespace weft::solver {

/// Moves values between the rows of a matrix, consecutive ones on each rank, and the boxes of its
/// grid. Only ranks whose rows and boxes overlap talk to each other; on one rank it copies.
///
///     4×3 points, 2 ranks     rows   0 0 0 0     boxes   0 0 1 1      rank 0 sends two values of
///                                    0 0 1 1             0 0 1 1      row 0, rank 1 two of row 2
///                                    1 1 1 1             0 0 1 1
///
/// `Value`: of the boxes and messages, float or double; rows are double. Lifetime: the communicator
/// outlives it.
template <class Value>
class RowBoxExchange {
 public:
  /// `layout`: of the box.
  RowBoxExchange(const comm_thread::Communicator& communicator, const spmv::RowPartition& rows,
                 const spmv::GridPartition& boxes, const spmv::GridLayout& layout);

  /// box = factor·rows. Thread: every thread of the team, after a barrier; ends with one.
  /// Collective. Throws comm_thread::MpiError.
  void collective_to_boxes(const comm_thread::TeamThread& thread, comm_thread::CommThread& carrier,
                           const double* rows, double factor, Value* box);
  /// rows = factor·box. Thread: as above.
  void collective_to_rows(const comm_thread::TeamThread& thread, comm_thread::CommThread& carrier,
                          const Value* box, double factor, double* rows);

 private:
  /// Part of a line of points: a place in the box or in a buffer, and one among the rows or in a
  /// buffer.
  struct Line {
    std::size_t box;
    std::size_t row;
    std::size_t count;
  };

  std::vector<Line> own_;
  std::vector<Line> from_rows_;  // own rows of others' boxes; box: in row_buffer_
  std::vector<Line> from_box_;  // own points of others' rows; row: in box_buffer_
  std::vector<Value> row_buffer_;
  std::vector<Value> box_buffer_;
  std::optional<comm_thread::NeighbourExchange> to_boxes_;
  std::optional<comm_thread::NeighbourExchange> to_rows_;
};

}  // namespace weft::solver
