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

}  // namespace

MemoryForecast collective_forecast_solve(const Job& job, const SolveOptions& options,
                                         const spmv::Problem& problem) {
  const SystemSize size = collective_system_size(job, problem);
  MemoryForecast forecast = forecast_operator(job, size, options, options.is_matrix_free());
  const bool has_preconditioner =
      !options.preconditioner.empty() && options.preconditioner != "none";
  const bool is_general = has_preconditioner && !options.has_jacobi();
  // What is chosen for a matrix is not known yet; at least the vectors of cg are needed.
  const bool is_free =
      options.method == "auto" && options.preconditioner.empty() && !options.is_matrix_free();
  const double of_method = arrays_of_method(
      is_free ? "cg" : options.method, options.restart > 0 ? options.restart : restart_of_gmres,
      is_general, options.is_matrix_free(), job.world().size());
  const double right_hand_side = 1;
  const double with_halo = 2;
  add_vectors(job, size, right_hand_side + of_method + arrays_of_preconditioner(options), with_halo,
              forecast);
  return forecast;
}

}  // namespace weft::tools
