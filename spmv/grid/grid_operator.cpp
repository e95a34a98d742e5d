#include "spmv/grid/grid_operator.h"

#include <algorithm>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "spmv/grid/shares.h"
#include "spmv/modes/product.h"
#include "spmv/modes/run_in_mode.h"

namespace weft::spmv {
namespace {

/// Throws on all ranks alike.
GridSize checked(const GridSize& grid) {
  constexpr GlobalIndex longest_row = GridOperator::longest_row;
  if (grid.x <= longest_row) return grid;
  throw comm_thread::InputError("found " + std::to_string(grid.x) +
                                " points in x; expected at most " + std::to_string(longest_row) +
                                " for a matrix-free operator");
}

GridHalo collective_halo(const comm_thread::Communicator& communicator,
                         const GridPartition& partition, bool has_corners) {
  GridHalo halo;
  comm_thread::collective_attempt(communicator, [&] {
    halo.neighbours = partition.neighbours(communicator.rank(), 1, has_corners);
  });
  halo.ranges = halo_of(halo.neighbours);
  return halo;
}

}  // namespace

GridOperator::GridOperator(const comm_thread::Communicator& communicator,
                           comm_thread::CommThread& comm_thread,
                           const comm_thread::ComputeTeam& team, const GridSize& grid,
                           bool has_corners)
    : communicator_(communicator),
      comm_thread_(comm_thread),
      team_(team),
      grid_(checked(grid)),
      partition_(grid, communicator.size()),
      layout_(partition_.box(communicator.rank()), 1),
      halo_(collective_halo(communicator, partition_, has_corners)),
      inner_(layout_.own()) {
  const GridBox domain = partition_.domain();
  for (std::size_t d = 0; d < 3; ++d) {
    if (layout_.own().begin[d] > domain.begin[d]) ++inner_.begin[d];
    if (layout_.own().end[d] < domain.end[d]) --inner_.end[d];
    inner_.end[d] = std::max(inner_.end[d], inner_.begin[d]);
  }
  for (int thread = 0; thread < team.thread_count(); ++thread) {
    shares_.push_back(share_of_rows(layout_.own(), thread, team.thread_count()));
    segments_.emplace_back();
    for (const GridBox& box : shares_.back())
      for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
        for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y)
          segments_.back().push_back({layout_.index(box.begin[0], y, z), box.size(0)});
  }
}

std::string GridOperator::boxes_name() const {
  const auto& dims = partition_.dims();
  return std::to_string(dims[0]) + "x" + std::to_string(dims[1]) + "x" + std::to_string(dims[2]) +
         " boxes";
}

std::unique_ptr<Operand> GridOperator::collective_make_operand() {
  auto vector =
      std::make_unique<GridVector>(communicator_, layout_, halo_, shares_, communicator_.new_tag());
  double* const values = vector->values();
  team_.run([&](const comm_thread::TeamThread& thread) {
    for_each_element(thread.index, [&](std::size_t i) { values[i] = 0; });
  });
  communicator_.barrier();  // both ends of every pair exist
  return vector;
}

void GridOperator::apply(const comm_thread::TeamThread& thread, Mode mode, Operand& x, double* y,
                         perfmodel::PhaseTimer& timer, RowSum x_dot_y) const {
  run_in_mode(thread, mode, {Product(*this, x.values(), y, x_dot_y), x, comm_thread_, timer});
}

void GridOperator::multiply_in_pieces(RowSet set, const comm_thread::TeamThread& thread,
                                      const double* x, double* y, RowSum x_dot_y,
                                      const std::function<void()>& pause) const {
  const auto multiply_mine = [&](const GridBox& box) {
    for (const GridBox& mine : share_of_rows(box, thread.index, thread.count))
      multiply_box(mine, x, y, x_dot_y, pause);
  };
  if (set == RowSet::all) return multiply_mine(layout_.own());
  if (set == RowSet::interior) return multiply_mine(inner_);
  for (const GridBox& box : shell(layout_.own(), inner_)) multiply_mine(box);
}

std::int64_t GridOperator::global_row(std::size_t element) const {
  const GridBox& own = layout_.own();
  const std::size_t first = layout_.index(own.begin[0], own.begin[1], own.begin[2]);
  const auto offset = static_cast<std::ptrdiff_t>(element - first);
  const std::ptrdiff_t z = offset / layout_.plane_stride();
  const std::ptrdiff_t y = offset % layout_.plane_stride() / layout_.row_stride();
  const std::ptrdiff_t x = offset % layout_.plane_stride() % layout_.row_stride();
  return (own.begin[0] + x) + grid_.x * ((own.begin[1] + y) + grid_.y * (own.begin[2] + z));
}

}  // namespace weft::spmv
