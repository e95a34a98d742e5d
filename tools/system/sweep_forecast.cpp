#include "tools/system/sweep_forecast.h"

#include <algorithm>
#include <cmath>

#include "comm_thread/channels/transport_choice.h"
#include "solver/tiles/tile_layout.h"
#include "solver/tiles/tile_partition.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/problems/problem.h"

namespace weft::tools {
namespace {

constexpr double value_bytes = 8;

/// Values that all neighbours of a rank's box get from it, or it from them, at depth 1.
double halo_values(const spmv::GridPartition& partition, const spmv::GridBox& own) {
  const spmv::GridBox domain = partition.domain();
  double values = 0;
  for (const std::size_t d : {0U, 1U, 2U}) {
    const double face = static_cast<double>(own.size((d + 1) % 3) * own.size((d + 2) % 3));
    values += face * ((own.begin[d] > domain.begin[d]) + (own.end[d] < domain.end[d]));
  }
  return values;
}

/// What channels keep of messages that are on their way, sent and received; shared memory is
/// written where it is.
void add_channels(const JacobiOptions& options, double halo_values, MemoryForecast& forecast) {
  if (options.is_sync() || options.is_threaded) return;
  if (options.transport.kind == comm_thread::TransportKind::shared) return;
  forecast.parts.push_back(
      {"messages", 2 * value_bytes * halo_values * static_cast<double>(options.max_in_flight)});
}

/// A grid, swept from one array into another.
MemoryForecast forecast_grid(const Job& job, const JacobiOptions& options) {
  const spmv::GridPartition partition(spmv::Problem::parse("poisson3d:" + options.grid).grid,
                                      job.world().size());
  const spmv::GridBox own = partition.box(job.world().rank());
  MemoryForecast forecast = forecast_operator(job, {}, options, true);
  const auto elements =
      static_cast<double>(spmv::GridLayout(own, options.halo_depth).element_count());
  forecast.parts.push_back({"grids", 2 * value_bytes * elements});
  add_channels(options, halo_values(partition, own), forecast);
  return forecast;
}

/// Kinds of tiles of a rank along one direction: at either side, and between.
int kinds_along(int side, int boxes) {
  return boxes == 1 ? std::min(side, 3) : std::min((side + boxes - 1) / boxes, 2);
}

}  // namespace

MemoryForecast collective_forecast_jacobi(const Job& job, const JacobiOptions& options) {
  if (options.is_grid()) return forecast_grid(job, options);
  const auto problem = spmv::Problem::parse(options.problem);
  const SystemSize size = collective_system_size(job, problem, options);
  MemoryForecast forecast = forecast_operator(job, size, options, false);
  const bool has_momentum = options.momentum != "0";
  const bool has_spectrum = !options.is_sync() || options.is_strict || options.momentum == "auto";
  // b, the scale, x before and after, and what goes with them; of a block the vectors of cg.
  const double arrays = options.inner.empty()   ? 4 + has_momentum + has_spectrum
                        : options.has_schwarz() ? 4
                                                : 7;
  add_vectors(job, size, arrays, 2, 0, forecast);
  add_channels(options, size.halo_per_rank, forecast);
  return forecast;
}

MemoryForecast forecast_schwarz(const Job& job, const SchwarzOptions& options) {
  constexpr double bytes_of_tile = 470;  // its place in the lists, measured
  const int side = options.tiles_per_side;
  const int points = options.points_per_side;
  const double box_points = std::pow(points + 2.0 * options.overlap, 2);
  const solver::TileLayout layout(points, options.overlap + 1);
  const double all_tiles = static_cast<double>(side) * side;
  const double tiles = std::ceil(all_tiles / job.world().size());
  MemoryForecast forecast = forecast_operator(job, {}, {}, true);
  forecast.parts.push_back(
      {"tiles",
       tiles * (value_bytes * (box_points + 2 * static_cast<double>(layout.element_count())) +
                bytes_of_tile)});
  // Measured: eigenvectors in both directions, and entries of a factor a point.
  const solver::TilePartition partition(side, job.world().size());
  const int all_kinds = partition.is_in_boxes() ? kinds_along(side, partition.columns()) *
                                                      kinds_along(side, partition.rows())
                                                : kinds_along(side, 1) * kinds_along(side, 1);
  const double kinds = std::min(tiles, static_cast<double>(all_kinds));
  const double of_factor = 6.7 * std::max(1.0, std::log2(box_points) - 8);
  const double of_eigenvectors = 4.9;
  const double values = options.local_solver == "cholmod"  ? of_factor
                        : options.local_solver == "tensor" ? of_eigenvectors
                                                           : std::max(of_factor, of_eigenvectors);
  forecast.parts.push_back({"solvers", kinds * value_bytes * values * box_points});
  return forecast;
}

}  // namespace weft::tools
