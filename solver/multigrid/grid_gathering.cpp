#include "solver/multigrid/grid_gathering.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "comm_thread/engine/neighbour_exchange.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/probe/median_seconds.h"
#include "solver/multigrid/grids/level_cuts.h"
#include "solver/multigrid/level_plan.h"

namespace weft::solver {
namespace {

using spmv::GlobalIndex;
using spmv::GridBox;

constexpr std::size_t few_bytes = 8;
constexpr std::size_t many_bytes = std::size_t{64} * 1024;
constexpr int sample_count = 9;

/// Seconds that a thread takes for a point in both passes of a cycle with two steps, and more for
/// each other step: docs/notes/multigrid.md, "What bounds the passes".
constexpr double seconds_per_point = 1.2e-9;
constexpr double seconds_per_point_and_step = 0.6e-9;

/// Points for which a second thread is worth its barrier, as in passes/tiles.cpp.
constexpr double least_points_of_a_thread = 4096;

/// What another message adds to an exchange, by its latency.
constexpr double share_of_message = 0.1;

/// Points around a box that f and e travel.
int depth_of_f(int steps) { return std::max(steps + 1, 2 * steps - 1); }
int depth_of_e(int steps) { return std::max(steps, 2); }

/// The largest box of a grid: its points in each direction, and how many boxes there are.
struct LargestBox {
  std::array<double, 3> size{};
  std::array<int, 3> boxes{};

  double points() const { return size[0] * size[1] * size[2]; }
  double with_rim(int depth) const {
    double product = 1;
    for (std::size_t d = 0; d < 3; ++d) product *= size[d] + (boxes[d] > 1 ? 2 * depth : 0);
    return product;
  }
  int neighbours() const {
    int product = 1;
    for (const int count : boxes) product *= std::min(count, 3);
    return product - 1;
  }
};

LargestBox largest_box(const LevelCuts& cuts) {
  LargestBox largest;
  for (std::size_t d = 0; d < 3; ++d) {
    largest.size[d] = static_cast<double>(cuts.largest_size(d));
    largest.boxes[d] = cuts.box_count(d);
  }
  return largest;
}

}  // namespace

Gathering collective_measure_exchanges(const comm_thread::Crew& crew,
                                       const spmv::GridPartition& partition) {
  const comm_thread::Communicator& communicator = crew.communicator();
  Gathering measured;
  if (communicator.size() == 1) return measured;
  std::vector<int> ranks;
  comm_thread::collective_attempt(communicator, [&] {
    for (const auto& neighbour : partition.neighbours(communicator.rank(), 1))
      ranks.push_back(neighbour.rank);
  });
  std::vector<std::byte> buffer(2 * many_bytes * ranks.size());
  const auto time = [&](std::size_t bytes) {
    std::vector<comm_thread::ExchangeNeighbour> neighbours;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      neighbours.push_back({.rank = ranks[i],
                            .send = std::span(buffer).subspan(2 * i * many_bytes, bytes),
                            .receive = std::span(buffer).subspan((2 * i + 1) * many_bytes, bytes)});
    comm_thread::NeighbourExchange exchange(communicator, "multigrid trial", neighbours,
                                            communicator.new_tag());
    communicator.barrier();  // both ends of every pair exist
    return comm_thread::collective_median_seconds(communicator, sample_count, [&] {
      if (!exchange.is_empty()) exchange.post(crew.comm_thread()).wait();
    });
  };
  const double few = time(few_bytes);
  const double many = time(many_bytes);
  measured.latency_seconds = few;
  const auto most_neighbours =
      static_cast<double>(communicator.max(static_cast<double>(ranks.size())));
  const double bytes = static_cast<double>(many_bytes - few_bytes) * most_neighbours;
  // Noise may make the longer messages the quicker ones.
  measured.bytes_per_second = bytes / std::max(many - few, 1e-11 * bytes);
  return measured;
}

double modelled_cycle_seconds(std::span<const GridLevel> grids,
                              const spmv::GridPartition& partition, const Gathering& measured,
                              int steps, int thread_count, GlobalIndex least_points,
                              std::size_t value_bytes) {
  const auto levels = planned_levels<float>(grids, partition, least_points);
  double seconds = 0;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const LevelCuts& finer = levels[i].finer_cuts;
    const LevelCuts& cuts = levels[i].cuts;
    const LargestBox box = largest_box(cuts);
    const bool is_moved = cuts != finer;
    if (box.neighbours() == 0 && !is_moved && i + 1 == levels.size()) continue;
    const double points = box.with_rim(depth_of_f(steps));
    const double threads =
        std::clamp(points / least_points_of_a_thread, 1.0, static_cast<double>(thread_count));
    seconds += points * (seconds_per_point + seconds_per_point_and_step * steps) / threads;
    // All points of a grid that moves travel, in as many messages as boxes become one.
    const double merged = is_moved ? box.points() : 0;
    int senders = 1;
    for (std::size_t d = 0; d < 3; ++d) senders *= finer.box_count(d) / cuts.box_count(d);
    const int messages = box.neighbours() + (is_moved ? senders : 0);
    if (messages == 0) continue;
    for (const int depth : {depth_of_f(steps), depth_of_e(steps)}) {
      const double bytes =
          static_cast<double>(value_bytes) * (box.with_rim(depth) - box.points() + merged);
      seconds += measured.latency_seconds.value_or(0) * (1 + share_of_message * (messages - 1)) +
                 bytes / measured.bytes_per_second;
    }
  }
  return seconds;
}

Gathering choose_gathering(std::span<const GridLevel> grids, const spmv::GridPartition& partition,
                           const Gathering& measured, int steps, int thread_count,
                           std::size_t value_bytes) {
  Gathering best = measured;
  best.least_rows = 8;
  const auto& dims = partition.dims();
  if (dims[0] * dims[1] * dims[2] == 1) return best;
  best.is_chosen = true;
  best.modelled_seconds = std::numeric_limits<double>::infinity();
  constexpr GlobalIndex all = GlobalIndex{1} << 31;
  for (const GlobalIndex least_points : {8, 4, 2, 16, 32, 64, 128}) {
    const double seconds = modelled_cycle_seconds(grids, partition, measured, steps, thread_count,
                                                  least_points, value_bytes);
    if (seconds >= best.modelled_seconds) continue;
    best.modelled_seconds = seconds;
    best.least_rows = least_points;
  }
  const double on_one =
      modelled_cycle_seconds(grids, partition, measured, steps, thread_count, all, value_bytes);
  if (on_one < best.modelled_seconds) {
    best.modelled_seconds = on_one;
    best.least_rows = all;
  }
  return best;
}

CycleOptions collective_with_gathering(const comm_thread::Crew& crew,
                                       const spmv::GridStencil& stencil,
                                       const spmv::GridPartition& partition, CycleOptions options) {
  options.gathering.least_rows = options.least_points;
  if (options.least_points > 0) return options;
  options.gathering = choose_gathering(grid_levels(stencil, coarsest_points), partition,
                                       collective_measure_exchanges(crew, partition), options.steps,
                                       crew.team().thread_count(),
                                       options.is_double ? sizeof(double) : sizeof(float));
  options.least_points = options.gathering.least_rows;
  return options;
}

}  // namespace weft::solver
