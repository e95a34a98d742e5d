#include "solver/simulation/jacobi_simulation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "comm_thread/waiting/team_barrier.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/simulation/cube_values.h"
#include "solver/simulation/part_shape.h"
#include "spmv/grid/diffusion_problem.h"
#include "spmv/grid/grid_box.h"

namespace weft::solver {
namespace {

/// Doubles from one part to the next: whole cache lines.
constexpr std::size_t line = 8;

double square(double x) { return x * x; }

/// On the grid of all parts.
spmv::GridBox domain_of(const PartShape& shape) {
  const auto [x, y, z] = shape.ranks();
  const spmv::GlobalIndex points = shape.points();
  return {{0, 0, 0}, {x * points, y * points, z * points}};
}

/// Sets the ghosts of a rank's part that are boundary values of the problem. Shape: values: [layout
/// element count].
void set_boundary_values(const PartShape& shape, const spmv::DiffusionProblem& problem, int rank,
                         std::span<double> values) {
  const spmv::GridBox domain = domain_of(shape);
  const spmv::GridBox all = shape.layout().with_ghosts();
  const std::array<int, 3> place = shape.place(rank);
  for (spmv::GlobalIndex z = all.begin[2]; z < all.end[2]; ++z)
    for (spmv::GlobalIndex y = all.begin[1]; y < all.end[1]; ++y)
      for (spmv::GlobalIndex x = all.begin[0]; x < all.end[0]; ++x) {
        const std::array<spmv::GlobalIndex, 3> at{x + place[0] * shape.points(),
                                                  y + place[1] * shape.points(),
                                                  z + place[2] * shape.points()};
        const spmv::GridBox point{at, {at[0] + 1, at[1] + 1, at[2] + 1}};
        if (intersection(point, domain).is_empty())
          values[shape.layout().index(x, y, z)] = problem.boundary_value(at[0], at[1], at[2]);
      }
}

}  // namespace

JacobiSimulationResult simulate_jacobi(const JacobiSimulationOptions& options) {
  check(options);
  const PartShape shape(ranks_per_direction(options.rank_count), options.real_points);
  const std::size_t count = shape.layout().element_count();
  const std::size_t stride = (count + line - 1) / line * line;
  perfmodel::HugePageBuffer<double> values(stride * static_cast<std::size_t>(shape.rank_count()));
  const spmv::GridBox domain = domain_of(shape);
  const spmv::DiffusionProblem problem{.grid = {domain.end[0], domain.end[1], domain.end[2]}};
  const double norm = std::sqrt(problem.source_square(domain));
  const comm_thread::ComputeTeam alone(1, comm_thread::WaitPolicy::yield);
  std::vector<CubeWorld> worlds(static_cast<std::size_t>(options.thread_count),
                                {shape, alone, square(norm), std::vector<double>(count)});
  const double points = std::pow(options.points, 3);
  const SweepCase cubes{
      .make_values =
          [&](int rank, std::size_t thread) {
            const std::span<double> own =
                values.span().subspan(stride * static_cast<std::size_t>(rank), count);
            set_boundary_values(shape, problem, rank, own);
            return SimulatedValues{
                .sweeper = std::make_unique<CubeValues>(worlds[thread], rank, own),
                .sample =
                    [](const Sweeper& cube) {
                      return static_cast<const CubeValues&>(cube).sample();
                    },
                .memory = std::as_bytes(own)};
          },
      .threshold = square(options.tolerance * norm),
      .source_norm = norm,
      .charged_points = points,
      .interior_fraction = [&](int rank) { return shape.interior_fraction(rank, options.points); },
      .charged_values = square(options.points) / square(options.real_points),
      .largest_message = shape.face_size()};
  return simulate_sweeps(options, cubes);
}

}  // namespace weft::solver
