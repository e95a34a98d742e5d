#include "solver/sweepers/grid_threads.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "solver/sweep/kept_grid.h"
#include "spmv/grid/grid_partition.h"

namespace weft::solver {
GridThreads::GridThreads(const comm_thread::ComputeTeam& team,
                         const spmv::DiffusionProblem& problem)
    : sweepers_(static_cast<std::size_t>(team.thread_count())) {
  if (problem.grid.z < team.thread_count())
    throw comm_thread::InputError(
        fmt::format("compute threads: found {} for a grid of {} planes in z; expected at most one "
                    "thread a plane",
                    team.thread_count(), problem.grid.z));
  const auto planes = spmv::GridPartition::in_planes(problem.grid, team.thread_count());
  domain_ = planes.domain();
  team.run([&](const comm_thread::TeamThread& thread) {
    sweepers_[static_cast<std::size_t>(thread.index)] = std::make_unique<GridSweeper>(
        thread.index, alone_, problem, planes, GridSweeper::Options{.has_time_blocking = false});
  });
}

std::vector<Sweeper*> GridThreads::sweepers() const {
  std::vector<Sweeper*> all;
  for (const auto& sweeper : sweepers_) all.push_back(sweeper.get());
  return all;
}

PackedRows GridThreads::rows() const {
  std::vector<std::vector<PackedRows::Piece>> pieces;
  for (const auto& sweeper : sweepers_)
    pieces.push_back(std::move(pieces_of(sweeper->layout(), domain_, 1).front()));
  return {pieces, domain_.point_count()};
}

double GridThreads::value(spmv::GlobalIndex x, spmv::GlobalIndex y, spmv::GlobalIndex z) const {
  const auto owner = std::ranges::find_if(
      sweepers_, [z](const auto& sweeper) { return z < sweeper->layout().own().end[2]; });
  return (*owner)->values()[(*owner)->layout().index(x, y, z)];
}

}  // namespace weft::solver
