#include "solver/threads/plane_block.h"

#include <algorithm>

#include "spmv/grid/average_sweep.h"

namespace weft::solver {
namespace {

using spmv::GlobalIndex;
using spmv::GridBox;

GridBox planes_of(const spmv::GridSize& grid, const comm_thread::Share& planes) {
  return {{0, 0, planes.begin}, {grid.x, grid.y, planes.end}};
}

}  // namespace

PlaneBlock::PlaneBlock(const spmv::DiffusionProblem& problem, const comm_thread::Share& planes)
    : problem_(problem),
      layout_(planes_of(problem.grid, planes), 1),
      source_square_(problem.source_square(planes_of(problem.grid, {0, problem.grid.z}))) {
  for (auto& array : arrays_) array = perfmodel::HugePageBuffer<double>(layout_.element_count());
}

void PlaneBlock::set_up() {
  const GridBox all = layout_.with_ghosts();
  const spmv::GridSize& grid = problem_.grid;
  for (GlobalIndex z = all.begin[2]; z < all.end[2]; ++z)
    for (GlobalIndex y = all.begin[1]; y < all.end[1]; ++y)
      for (GlobalIndex x = all.begin[0]; x < all.end[0]; ++x) {
        const bool is_inside = x >= 0 && x < grid.x && y >= 0 && y < grid.y && z >= 0 && z < grid.z;
        const double value = is_inside ? problem_.start_value() : problem_.boundary_value(x, y, z);
        for (auto& array : arrays_) array[layout_.index(x, y, z)] = value;
      }
  current_ = 0;
}

void PlaneBlock::sweep(const comm_thread::Share& planes,
                       comm_thread::ExactAccumulator* residual_square) {
  const double* const from = arrays_[current_].data();
  double* const to = arrays_[1 - current_].data();
  const GridBox box = planes_of(problem_.grid, planes);
  if (residual_square)
    sweep_average_with_residual(layout_, from, to, box, source_square_, *residual_square);
  else
    sweep_average(layout_, from, to, box);
}

void PlaneBlock::add_residual(comm_thread::ExactAccumulator& residual_square) const {
  add_average_residual(layout_, arrays_[current_].data(), layout_.own(), source_square_,
                       residual_square);
}

GlobalIndex PlaneBlock::outermost(Side side) const {
  return side == Side::below ? layout_.own().begin[2] : layout_.own().end[2] - 1;
}

void PlaneBlock::publish(Side side, SharedPlane& plane, std::int64_t sweep) const {
  plane.publish(arrays_[1 - current_].data() + first_of(outermost(side)), layout_.row_stride(),
                sweep);
}

std::int64_t PlaneBlock::take(Side side, SharedPlane& plane) {
  const GlobalIndex ghost = outermost(side) + (side == Side::below ? -1 : 1);
  return plane.take(arrays_[current_].data() + first_of(ghost), layout_.row_stride());
}

void PlaneBlock::copy_ghosts(Side side, const PlaneBlock& neighbour) {
  const GlobalIndex ghost = outermost(side) + (side == Side::below ? -1 : 1);
  // Not the neighbour's own idea of what is current: it may finish a sweep meanwhile.
  const double* from = neighbour.arrays_[current_].data() + neighbour.first_of(ghost);
  double* to = arrays_[current_].data() + first_of(ghost);
  for (GlobalIndex y = 0; y < problem_.grid.y; ++y)
    std::copy_n(from + y * neighbour.layout_.row_stride(), problem_.grid.x,
                to + y * layout_.row_stride());
}

}  // namespace weft::solver
