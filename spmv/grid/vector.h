#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/rows/operand.h"

namespace weft::spmv {

/// Halo exchange plan of a grid, shared by all its vectors.
struct GridHalo {
  std::vector<GridNeighbour> neighbours;
  std::vector<comm_thread::HaloNeighbour> ranges;  // in the buffers
};

/// Values at the points of a box and, one point deep, around it: 0 beyond the grid, else those of
/// the neighbours. Received rows are copied to the ghost points, which are between the own points
/// in memory. Lifetime: `communicator`, `layout` and `halo` outlive it.
class GridVector final : public Operand {
 public:
  /// `shares`: [thread_count], the own points of every thread. `tag`: as HaloVector.
  GridVector(const comm_thread::Communicator& communicator, const GridLayout& layout,
             const GridHalo& halo, std::span<const std::vector<GridBox>> shares, int tag);

  double* values() override { return values_.data(); }
  comm_thread::HaloExchange<double>& exchange() override { return exchange_; }
  void pack(int thread) override;
  void unpack(const comm_thread::TeamThread& thread) override;

 private:
  /// A row of a box that is sent or received.
  struct Row {
    std::size_t first;  // element of the array
    std::size_t place;  // in the buffer
    std::size_t count;
  };

  std::vector<Row> rows(const GridBox& box, std::int64_t begin, const GridBox& part) const;

  const GridLayout& layout_;
  perfmodel::HugePageBuffer<double> values_;
  comm_thread::HaloExchange<double> exchange_;
  std::vector<std::vector<Row>> sent_rows_;  // of every thread
  std::vector<Row> received_rows_;
};

}  // namespace weft::spmv
