#include "library/settings/preconditioner_choice.h"

#include <utility>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/settings/near_null_choice.h"
#include "perfmodel/page_stock.h"
#include "solver/amg/amg_preconditioner.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/multigrid/cycle_options.h"
#include "solver/multigrid/multigrid_preconditioner.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "solver/precondition/isai_preconditioner.h"
#include "spmv/grid/diffusion_operator.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;

/// Of a grid, or of a matrix whose grid is known.
std::unique_ptr<solver::Preconditioner> collective_make_multigrid(spmv::LinearOperator& op,
                                                                  const SolveSettings& settings,
                                                                  const spmv::Problem& problem) {
  const solver::MultigridSettings multigrid = settings.parsed_multigrid();
  solver::CycleOptions cycle{.steps = multigrid.steps,
                             .least_points = multigrid.least_points,
                             .is_double = multigrid.is_double,
                             .mode = *spmv::parse_mode(settings.mode)};
  if (auto* const grid = dynamic_cast<spmv::StencilOperator*>(&op))
    return std::make_unique<solver::MultigridPreconditioner>(*grid, cycle);
  if (!settings.has_smoothing_steps()) cycle.steps = 0;
  if (auto* const grid = dynamic_cast<spmv::DiffusionOperator*>(&op)) {
    if (multigrid.has_full_start)
      throw InputError(option_name("multigrid") +
                       ": found start=full with coefficients that vary; expected start=zero");
    return std::make_unique<solver::MultigridPreconditioner>(*grid, cycle);
  }
  const auto* const matrix = dynamic_cast<const spmv::SparseOperator*>(&op);
  if (!matrix)
    throw InputError("multigrid: found an operator of the caller; expected a matrix or a grid");
  if (problem.has_grid() && !settings.grid.empty())
    throw InputError("found " + option_name("grid") + " for a problem with a grid; expected none");
  if (problem.has_stencil()) {
    cycle.steps = multigrid.steps;
    return std::make_unique<solver::MultigridPreconditioner>(*matrix,
                                                             spmv::GridStencil::of(problem), cycle);
  }
  if (!problem.has_grid() && settings.grid.empty())
    throw InputError("found no grid; expected " + option_name("grid", "NXxNYxNZ") +
                     " with multigrid");
  const auto grid = problem.has_grid() ? solver::MultigridPreconditioner::Grid{.size = problem.grid}
                                       : *settings.parsed_grid();
  return std::make_unique<solver::MultigridPreconditioner>(*matrix, grid, cycle);
}

/// True if multigrid as a method makes its cycle itself.
bool is_fused(const spmv::LinearOperator& op) {
  return dynamic_cast<const spmv::StencilOperator*>(&op) != nullptr;
}

/// The cycle that `auto` may choose; null where it has none: without a grid, or where the matrix
/// has other entries than those of one, which is an error only where the grid was given.
std::unique_ptr<solver::Preconditioner> collective_try_multigrid(spmv::LinearOperator& op,
                                                                 const SolveSettings& settings,
                                                                 const spmv::Problem& problem) {
  if (is_fused(op) || (!problem.has_grid() && settings.grid.empty())) return nullptr;
  if (!settings.grid.empty()) return collective_make_multigrid(op, settings, problem);
  try {
    return collective_make_multigrid(op, settings, problem);
  } catch (const InputError&) {
    return nullptr;
  }
}

MadePreconditioner collective_make_amg(const spmv::SparseOperator& op,
                                       const SolveSettings& settings, solver::amg::Settings amg,
                                       const spmv::Problem& problem, std::vector<double> constant) {
  amg.mode = *spmv::parse_mode(settings.mode);
  amg.keeps_set_up = problem.is_file() && problem.path.empty();  // rows of the caller
  const perfmodel::PageStock stock;  // the set-up takes pages that the choice leaves
  NearNullChoice near_null;
  if (constant.empty())
    near_null = collective_choose_near_null(op, settings, problem);
  else
    near_null.space = {.vector_count = 1, .values = std::move(constant)};
  return {.object =
              std::make_unique<solver::amg::AmgPreconditioner>(op, amg, std::move(near_null.space)),
          .found = std::move(near_null.why)};
}

}  // namespace

MadePreconditioner collective_make_preconditioner(spmv::LinearOperator& op,
                                                  const SolveSettings& settings,
                                                  const spmv::Problem& problem,
                                                  std::function<void(double)> on_forecast,
                                                  std::vector<double> constant) {
  if (settings.has_jacobi())
    return {.object = std::make_unique<solver::DiagonalPreconditioner>(op)};
  if (settings.preconditioner == "multigrid" || (settings.method == "multigrid" && !is_fused(op)))
    return {.object = collective_make_multigrid(op, settings, problem)};
  if (settings.may_choose_multigrid())
    return {.object = collective_try_multigrid(op, settings, problem)};
  auto schwarz = settings.parsed_schwarz(problem.is_file());
  const auto isai = settings.parsed_isai();
  const auto amg = settings.parsed_amg();
  if (!schwarz && !isai && !amg) return {};
  const auto* const matrix = dynamic_cast<const spmv::SparseOperator*>(&op);
  if (!matrix)
    throw InputError(option_name("preconditioner", settings.preconditioner_name()) +
                     ": found an operator without a matrix; expected a matrix");
  if (isai)
    return {.object = std::make_unique<solver::IsaiPreconditioner>(
                *matrix, solver::IsaiPreconditioner::Options{
                             .form = *isai, .mode = *spmv::parse_mode(settings.mode)})};
  if (amg) return collective_make_amg(*matrix, settings, *amg, problem, std::move(constant));
  schwarz->on_forecast = std::move(on_forecast);
  auto made = std::make_unique<solver::SchwarzPreconditioner>(*matrix, *schwarz);
  const solver::SchwarzPreconditioner* const object = made.get();
  return {std::move(made), object};
}

}  // namespace weft::library
