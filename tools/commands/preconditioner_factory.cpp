#include "tools/commands/preconditioner_factory.h"

#include <string>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/stopwatch.h"
#include "solver/amg/preconditioner.h"
#include "solver/multigrid/matrix_multigrid.h"
#include "solver/multigrid/multigrid_preconditioner.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "solver/precondition/isai_preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/modes/mode.h"

namespace weft::tools {
namespace {

solver::GridCycle::Options cycle_options(const SolveOptions& options) {
  const solver::MultigridSettings settings = options.parsed_multigrid();
  return {.steps = settings.steps,
          .least_points = settings.least_points,
          .mode = *spmv::parse_mode(options.mode)};
}

/// Of a grid, or of a matrix whose grid is known.
std::unique_ptr<solver::Preconditioner> collective_make_multigrid(SolveSystem& system,
                                                                  const SolveOptions& options,
                                                                  const spmv::Problem& problem) {
  solver::GridCycle::Options cycle = cycle_options(options);
  const spmv::SparseOperator* const matrix = system.matrix_operator();
  if (!matrix)
    return std::make_unique<solver::MultigridPreconditioner>(
        dynamic_cast<spmv::StencilOperator&>(system.op()), cycle);
  if (problem.has_grid() && !options.grid.empty())
    throw comm_thread::InputError("found --grid for a problem with a grid; expected none");
  if (problem.has_stencil())
    return std::make_unique<solver::MatrixMultigrid>(*matrix, spmv::GridStencil::of(problem),
                                                     cycle);
  if (!problem.has_grid() && options.grid.empty())
    throw comm_thread::InputError(
        "found no grid; expected --grid NXxNYxNZ with --preconditioner multigrid");
  const auto grid = problem.has_grid() ? solver::MatrixMultigrid::Grid{.size = problem.grid}
                                       : *options.parsed_grid();
  if (!options.has_smoothing_steps()) cycle.steps = 0;
  return std::make_unique<solver::MatrixMultigrid>(*matrix, grid, cycle);
}

}  // namespace

std::unique_ptr<solver::Preconditioner> collective_make_preconditioner(SolveSystem& system,
                                                                       const SolveOptions& options,
                                                                       const spmv::Problem& problem,
                                                                       SolveFacts& facts) {
  const perfmodel::Stopwatch watch;
  try {
    if (options.has_jacobi()) return std::make_unique<solver::DiagonalPreconditioner>(system.op());
    if (options.preconditioner == "multigrid")
      return collective_make_multigrid(system, options, problem);
    if (const auto form = options.parsed_isai())
      return std::make_unique<solver::IsaiPreconditioner>(
          *system.matrix_operator(), solver::IsaiPreconditioner::Options{
                                         .form = *form, .mode = *spmv::parse_mode(options.mode)});
    if (auto settings = options.parsed_amg()) {
      settings->mode = *spmv::parse_mode(options.mode);
      auto made =
          std::make_unique<solver::amg::AmgPreconditioner>(*system.matrix_operator(), *settings);
      facts.preconditioner_setup_seconds = watch.seconds();
      return made;
    }
    const auto wanted = options.parsed_schwarz();
    if (!wanted) return nullptr;
    auto made = std::make_unique<solver::SchwarzPreconditioner>(*system.matrix_operator(), *wanted);
    facts.schwarz = made.get();
    facts.preconditioner_setup_seconds = watch.seconds();
    return made;
  } catch (const comm_thread::InputError& error) {
    throw comm_thread::InputError(problem.name() + ": " + error.what());
  }
}

}  // namespace weft::tools
