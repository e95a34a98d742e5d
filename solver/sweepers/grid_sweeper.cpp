#include "solver/sweepers/grid_sweeper.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "spmv/grid/shares.h"

namespace weft::solver {
namespace {

using comm_thread::ExactAccumulator;
using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;
using spmv::share_of_rows;

/// Second-level cache of a core as the system says, and a guess where it says nothing.
std::size_t cache_bytes() {
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : std::size_t{1} << 20;
}

/// Throws on all ranks alike.
std::vector<spmv::GridNeighbour> neighbours_of(const comm_thread::Communicator& communicator,
                                               const spmv::GridPartition& partition, int depth) {
  std::vector<spmv::GridNeighbour> neighbours;
  comm_thread::collective_attempt(
      communicator, [&] { neighbours = partition.neighbours(communicator.rank(), depth); });
  return neighbours;
}

/// Calls work(first element of a row, place of its first value in the buffer, number of values) for
/// the rows of `box` in the order of the buffer, those of `thread` only.
template <class Work>
void for_each_row(const TeamThread& thread, const spmv::GridLayout& layout, const GridBox& box,
                  const Work& work) {
  const GlobalIndex rows = box.size(1);
  const auto [begin, end] = comm_thread::share_of(rows * box.size(2), thread.index, thread.count);
  for (GlobalIndex row = begin; row < end; ++row)
    work(layout.index(box.begin[0], box.begin[1] + row % rows, box.begin[2] + row / rows),
         static_cast<std::size_t>(row * box.size(0)), static_cast<std::size_t>(box.size(0)));
}

}  // namespace

GridSweeper::GridSweeper(const comm_thread::Communicator& communicator,
                         const comm_thread::ComputeTeam& team,
                         const spmv::DiffusionProblem& problem,
                         const spmv::GridPartition& partition, const Options& options)
    : GridSweeper(communicator.rank(), neighbours_of(communicator, partition, options.halo_depth),
                  team, problem, partition, options) {}

GridSweeper::GridSweeper(int rank, std::vector<spmv::GridNeighbour> neighbours,
                         const comm_thread::ComputeTeam& team,
                         const spmv::DiffusionProblem& problem,
                         const spmv::GridPartition& partition, const Options& options)
    : team_(team),
      problem_(problem),
      options_(options),
      domain_(partition.domain()),
      layout_(partition.box(rank), options.halo_depth),
      neighbours_(std::move(neighbours)),
      exchanged_(spmv::halo_of(neighbours_)),
      inner_(layout_.own()),
      time_blocking_(layout_,
                     options.has_time_blocking
                         ? spmv::TimeBlocking::choose_height(
                               layout_, options.cache_bytes ? options.cache_bytes : cache_bytes(),
                               team.thread_count())
                         : 1) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (layout_.own().begin[d] > domain_.begin[d]) ++inner_.begin[d];
    if (layout_.own().end[d] < domain_.end[d]) --inner_.end[d];
  }
  // Every rank sums the whole source in the same order: no message, and the same bits everywhere.
  source_norm_ = std::sqrt(problem_.source_square(domain_));
  for (Array& array : arrays_) {
    array = Array(layout_.element_count());
    set_up_arrays(array);
  }
}

void GridSweeper::set_up_arrays(Array& array) const {
  const GridBox all = layout_.with_ghosts();
  team_.run([&](const TeamThread& thread) {
    for_each_row(thread, layout_, all,
                 [&](std::size_t first, std::size_t place, std::size_t count) {
                   const auto row = static_cast<GlobalIndex>(place / count);
                   const GlobalIndex y = all.begin[1] + row % all.size(1);
                   const GlobalIndex z = all.begin[2] + row / all.size(1);
                   for (std::size_t i = 0; i < count; ++i) {
                     const GlobalIndex x = all.begin[0] + static_cast<GlobalIndex>(i);
                     const GridBox point{{x, y, z}, {x + 1, y + 1, z + 1}};
                     array[first + i] = intersection(point, domain_).is_empty()
                                            ? problem_.boundary_value(x, y, z)
                                            : problem_.start_value();
                   }
                 });
  });
}

std::string GridSweeper::sweep_method() const {
  const int height = time_blocking_.height();
  if (!options_.has_time_blocking) return "single sweeps, as asked for";
  if (sweeps_per_exchange() == 1) return "single sweeps, because a halo of one point lasts for one";
  if (height == 1)
    return "single sweeps, because the box has too few rows, or too long ones, for time blocks";
  const std::string blocks = "time blocks of " + std::to_string(height) + " sweeps";
  if (neighbours_.empty()) return blocks + ", which fit into the second-level cache";
  return blocks + ", a halo of " + std::to_string(options_.halo_depth) + " points lasting for " +
         std::to_string(options_.halo_depth) + " sweeps";
}

void GridSweeper::copy_in(const TeamThread& thread, Array& array, const GridBox& box,
                          std::span<const double> in) const {
  for_each_row(thread, layout_, box, [&](std::size_t first, std::size_t place, std::size_t count) {
    std::copy_n(in.data() + place, count, array.data() + first);
  });
}

void GridSweeper::pack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                       std::span<double> out) const {
  const double* const values = array_of(state).data();
  for_each_row(thread, layout_, neighbours_[neighbour].sent,
               [&](std::size_t first, std::size_t place, std::size_t count) {
                 std::copy_n(values + first, count, out.data() + place);
               });
}

void GridSweeper::unpack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                         std::span<const double> in) {
  const GridBox& box = neighbours_[neighbour].received;
  if (state == SweepState::recorded) return copy_in(thread, recorded_, box, in);
  // The other array's halo, too: a sweep without a new halo reads it after the arrays changed
  // places.
  for (Array& array : arrays_) copy_in(thread, array, box, in);
}

std::vector<GridBox> GridSweeper::parts(SweepPart part) const {
  if (part == SweepPart::all) return {layout_.own()};
  if (part == SweepPart::interior) return {inner_};
  return spmv::shell(layout_.own(), inner_);
}

void GridSweeper::sweep(const TeamThread& thread, SweepPart part,
                        ExactAccumulator* residual_square) {
  const double* const from = arrays_[current_].data();
  double* const to = arrays_[1 - current_].data();
  for (const GridBox& box : parts(part))
    for (const GridBox& mine : share_of_rows(box, thread.index, thread.count)) {
      if (residual_square)
        sweep_average_with_residual(layout_, from, to, mine, source_norm_ * source_norm_,
                                    *residual_square);
      else
        sweep_average(layout_, from, to, mine);
    }
}

void GridSweeper::add_residual(const TeamThread& thread, SweepState state,
                               ExactAccumulator& residual_square) {
  for (const GridBox& mine : share_of_rows(layout_.own(), thread.index, thread.count))
    add_average_residual(layout_, array_of(state).data(), mine, source_norm_ * source_norm_,
                         residual_square);
}

int GridSweeper::sweeps_per_exchange() const {
  return neighbours_.empty() ? INT_MAX : options_.halo_depth;
}

GridBox GridSweeper::extended(int layers) const {
  GridBox box = layout_.own();
  for (std::size_t d = 0; d < 3; ++d) {
    box.begin[d] -= layers;
    box.end[d] += layers;
  }
  return intersection(box, domain_);
}

void GridSweeper::advance(const TeamThread& thread, int count) {
  std::vector<GridBox> boxes;
  for (int sweep = 0; sweep < count; ++sweep)
    boxes.push_back(neighbours_.empty() ? layout_.own() : extended(count - 1 - sweep));
  const std::size_t first = current_;
  const std::array<double*, 2> arrays{arrays_[first].data(), arrays_[1 - first].data()};
  if (time_blocking_.height() > 1 && count > 1) {
    time_blocking_.sweep(thread, arrays, boxes);
  } else {
    for (std::size_t sweep = 0; sweep < boxes.size(); ++sweep) {
      for (const GridBox& mine : share_of_rows(boxes[sweep], thread.index, thread.count))
        sweep_average(layout_, arrays[sweep % 2], arrays[(sweep + 1) % 2], mine);
      thread.barrier();
    }
  }
  if (thread.is_primary()) current_ = (first + boxes.size()) % 2;
  thread.barrier();
}

void GridSweeper::record(const TeamThread& thread) {
  if (recorded_.size() == 0) {
    thread.barrier();
    if (thread.is_primary()) {
      recorded_ = Array(layout_.element_count());
      std::copy(arrays_[current_].span().begin(), arrays_[current_].span().end(),
                recorded_.data());  // the boundary values
    }
    thread.barrier();
  }
  for_each_row(thread, layout_, layout_.own(),
               [&](std::size_t first, std::size_t, std::size_t count) {
                 std::copy_n(arrays_[current_].data() + first, count, recorded_.data() + first);
               });
}

void GridSweeper::save(const TeamThread& thread, const PackedRows& rows, std::size_t /*vector*/,
                       double* packed) {
  rows.pack(thread, arrays_[current_].data(), packed);
}

void GridSweeper::load(const TeamThread& thread, const PackedRows& rows, std::size_t /*vector*/,
                       const double* packed, std::int64_t /*sweep*/) {
  rows.unpack(thread, packed, arrays_[current_].data());
}

}  // namespace weft::solver
