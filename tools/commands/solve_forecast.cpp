#include "tools/commands/solve_forecast.h"

namespace weft::tools {
namespace {

constexpr int restart_of_gmres = 30;

/// Arrays of a rank's rows that the preconditioner has, measured for multigrid.
double arrays_of_preconditioner(const SolveOptions& options, bool is_varying) {
  const double varying = is_varying ? 3 : 0;  // couplings of an operator without a matrix
  if (options.preconditioner == "multigrid" || (options.method == "multigrid" && is_varying))
    return varying + (options.is_matrix_free() && !is_varying ? 2 : 4.2);
  if (options.has_jacobi()) return varying + 2;
  return varying;
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
  const bool is_varying =
      options.is_matrix_free() && problem.kind == spmv::ProblemKind::diffusion3d;
  const double with_halo = 2;
  add_vectors(job, size,
              right_hand_side + of_method + arrays_of_preconditioner(options, is_varying),
              with_halo, forecast);
  return forecast;
}

}  // namespace weft::tools
