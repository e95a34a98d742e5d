#include "tools/commands/solve_forecast.h"

namespace weft::tools {
namespace {

constexpr int restart_of_gmres = 30;

/// Arrays of a rank's rows that the preconditioner has, measured for multigrid.
double arrays_of_preconditioner(const SolveOptions& options) {
  if (options.preconditioner == "multigrid") return options.is_matrix_free() ? 2 : 4.2;
  if (options.has_jacobi()) return 2;
  return 0;
}

/// Bytes of amg and its set-up at their peak, measured: of a nonzero and of a row of the matrix.
/// Grids, meshes and elasticity with the motions of a rigid body come within 15 %, poisson2d and
/// small matrices within 25 % below it.
double bytes_of_amg(const Job& job, const SolveOptions& options, const spmv::Problem& problem,
                    const SystemSize& size) {
  const bool has_nodes = !options.coordinates.empty() || options.block_size > 1 ||
                         (!options.near_null.empty() && options.block_size != 1) ||
                         problem.kind == spmv::ProblemKind::elasticity3d;
  const double of_nonzeros = (has_nodes ? 51 : 20.7) * size.nonzeros;
  const double of_rows = (has_nodes ? 0 : 345) * size.rows;
  const double of_halo = 400;
  return (of_nonzeros + of_rows) / job.world().size() + of_halo * size.halo_per_rank;
}

}  // namespace

MemoryForecast collective_forecast_solve(const Job& job, const SolveOptions& options,
                                         const spmv::Problem& problem) {
  const SystemSize size = collective_system_size(job, problem);
  MemoryForecast forecast = forecast_operator(job, size, options, options.is_matrix_free());
  const bool is_general = options.preconditioner != "none" && !options.has_jacobi();
  const double of_method =
      arrays_of_method(options.method, options.restart > 0 ? options.restart : restart_of_gmres,
                       is_general, options.is_matrix_free(), job.world().size());
  const double right_hand_side = 1;
  const double with_halo = 2;
  add_vectors(job, size, right_hand_side + of_method + arrays_of_preconditioner(options), with_halo,
              forecast);
  if (options.preconditioner_name() == "amg")
    forecast.parts.push_back({"amg", bytes_of_amg(job, options, problem, size)});
  return forecast;
}

}  // namespace weft::tools
