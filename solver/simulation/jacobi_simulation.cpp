#include "solver/simulation/jacobi_simulation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "solver/simulation/cube_values.h"
#include "solver/simulation/jacobi_problem.h"
#include "solver/simulation/part_shape.h"

namespace weft::solver {
namespace {

/// Doubles from one part to the next: whole cache lines.
constexpr std::size_t line = 8;

double square(double x) { return x * x; }

}  // namespace

JacobiSimulationResult simulate_jacobi(const JacobiSimulationOptions& options) {
  check(options);
  const PartShape shape(ranks_per_direction(options.rank_count), options.real_points);
  const std::size_t count = shape.layout().element_count();
  const std::size_t stride = (count + line - 1) / line * line;
  perfmodel::HugePageBuffer<double> values(stride * static_cast<std::size_t>(shape.rank_count()));
  const double norm = source_norm(shape);
  std::vector<CubeWorld> worlds(static_cast<std::size_t>(options.thread_count),
                                {shape, square(norm), std::vector<double>(count)});
  const double points = std::pow(options.points, 3);
  const SweepCase cubes{
      .make_values =
          [&](int rank, std::size_t thread) {
            const std::span<double> own =
                values.span().subspan(stride * static_cast<std::size_t>(rank), count);
            set_boundary_values(shape, rank, own);
            return std::make_unique<CubeValues>(worlds[thread], rank, own);
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
