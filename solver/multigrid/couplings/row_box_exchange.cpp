#include "solver/multigrid/couplings/row_box_exchange.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/grid/grid_box.h"
#include "spmv/rows/index.h"

namespace weft::solver {
namespace {

using spmv::GlobalIndex;
using spmv::GridBox;

/// Consecutive rows that are points of one line.
struct RowRun {
  GlobalIndex begin = 0;
  GlobalIndex count = 0;
  std::array<GlobalIndex, 3> point{};  // of the first
};

/// Calls visit(run) for the rows [begin, end) that are points of `box`, line by line.
template <class Visit>
void for_each_run(const spmv::GridSize& grid, const GridBox& box, GlobalIndex begin,
                  GlobalIndex end, const Visit& visit) {
  const GlobalIndex plane = grid.x * grid.y;
  const GlobalIndex first_z = std::max(box.begin[2], begin / plane);
  const GlobalIndex end_z = std::min(box.end[2], (end + plane - 1) / plane);
  for (GlobalIndex z = first_z; z < end_z; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
      const GlobalIndex line = grid.x * (y + grid.y * z);
      const GlobalIndex first = std::max(begin, line + box.begin[0]);
      const GlobalIndex last = std::min(end, line + box.end[0]);
      if (first < last) visit(RowRun{first, last - first, {first - line, y, z}});
    }
}

/// The least box with the points of the rows [begin, end).
GridBox box_of_rows(const spmv::GridSize& grid, GlobalIndex begin, GlobalIndex end) {
  if (begin >= end) return {};
  const GlobalIndex first = begin / grid.x;  // lines
  const GlobalIndex last = (end - 1) / grid.x;
  GridBox box{{0, 0, first / grid.y}, {grid.x, grid.y, last / grid.y + 1}};
  if (first / grid.y == last / grid.y) {
    box.begin[1] = first % grid.y;
    box.end[1] = last % grid.y + 1;
  }
  return box;
}

}  // namespace

template <class Value>
spmv::Redistribution<Value> rows_to_boxes(const comm_thread::Crew& crew,
                                          const spmv::RowPartition& rows,
                                          const spmv::GridPartition& boxes,
                                          const spmv::GridLayout& layout) {
  using Redistribution = spmv::Redistribution<Value>;
  const int me = crew.communicator().rank();
  const spmv::GridSize& grid = boxes.grid();
  const GlobalIndex begin = rows.begin(me);
  const GlobalIndex end = rows.end(me);
  const GridBox own = boxes.box(me);
  const auto element_of = [&](const RowRun& run) {
    return layout.index(run.point[0], run.point[1], run.point[2]);
  };
  std::vector<typename Redistribution::Line> kept;
  comm_thread::Lists<typename Redistribution::Piece> leaving;
  comm_thread::Lists<typename Redistribution::Piece> arriving;
  for (const int rank : boxes.owners(box_of_rows(grid, begin, end)))
    for_each_run(grid, boxes.box(rank), begin, end, [&](const RowRun& run) {
      const auto row = static_cast<std::size_t>(run.begin - begin);
      const auto count = static_cast<std::size_t>(run.count);
      if (rank == me)
        kept.push_back({row, element_of(run), count});
      else
        leaving[rank].push_back({row, count});
    });
  const GlobalIndex first_row = own.begin[0] + grid.x * (own.begin[1] + grid.y * own.begin[2]);
  const GlobalIndex last_row =
      own.end[0] - 1 + grid.x * (own.end[1] - 1 + grid.y * (own.end[2] - 1));
  for (int rank = rows.owner(first_row); rank <= rows.owner(last_row); ++rank) {
    if (rank == me) continue;
    for_each_run(grid, own, rows.begin(rank), rows.end(rank), [&](const RowRun& run) {
      arriving[rank].push_back({element_of(run), static_cast<std::size_t>(run.count)});
    });
  }
  return Redistribution(crew, std::move(kept), leaving, arriving, "rows to boxes");
}

template spmv::Redistribution<float> rows_to_boxes(const comm_thread::Crew&,
                                                   const spmv::RowPartition&,
                                                   const spmv::GridPartition&,
                                                   const spmv::GridLayout&);
template spmv::Redistribution<double> rows_to_boxes(const comm_thread::Crew&,
                                                    const spmv::RowPartition&,
                                                    const spmv::GridPartition&,
                                                    const spmv::GridLayout&);

}  // namespace weft::solver
