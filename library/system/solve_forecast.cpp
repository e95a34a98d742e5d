#include "library/system/solve_forecast.h"

#include <algorithm>

#include "library/settings/method_choice.h"
#include "library/solve/scaled_system.h"
#include "solver/amg/amg_forecast.h"
#include "solver/methods/method_table.h"
#include "solver/multigrid/grids/turned_grid.h"
#include "solver/multigrid/multigrid_forecast.h"
#include "solver/precondition/isai_preconditioner.h"
#include "spmv/grid/stencil.h"
#include "spmv/matrix/storage_trial.h"
#include "spmv/rows/node_pattern.h"

namespace weft::library {
namespace {

using comm_thread::Communicator;

/// Arrays of multigrid, where the settings or the problem make one.
double arrays_of_multigrid(const SolveSettings& settings, const spmv::Problem& problem,
                           bool is_varying, int ranks) {
  const solver::KrylovEntry* const entry = solver::find_krylov_method(settings.method);
  solver::MultigridUse use{.is_method = entry && entry->needs_grid,
                           .is_matrix_free = settings.is_matrix_free(),
                           .is_varying = is_varying};
  use.is_turned = use.is_method && use.is_matrix_free && !is_varying &&
                  solver::TurnedGrid::direction_for(spmv::GridStencil::of(problem)) != 0;
  const bool is_there =
      use.is_turned || settings.preconditioner == "multigrid" || (use.is_method && is_varying);
  return is_there ? solver::multigrid_arrays(use, ranks) : 0;
}

/// Bytes of multigrid for a matrix whose couplings vary on a grid.
double bytes_of_matrix_multigrid(const Communicator& communicator, const SolveSettings& settings,
                                 const spmv::Problem& problem, const SystemSize& size) {
  const auto given = settings.parsed_grid();
  const spmv::GridSize grid = given ? given->size : problem.grid;
  // Another size is refused when the matrix is there.
  if (static_cast<double>(grid.x) * static_cast<double>(grid.y) * static_cast<double>(grid.z) !=
      size.rows)
    return 0;
  return solver::matrix_multigrid_bytes(grid, given.has_value(),
                                        settings.parsed_multigrid().is_double, communicator.rank(),
                                        communicator.size());
}

/// What the method of `settings` needs. What is chosen for a matrix is not known yet: at least the
/// vectors of cg. Of what trials choose, the most that one of them needs.
/// `has_constant_grid`: the operator is a stencil, the same for all points.
solver::MethodNeeds needs_of_method(const SolveSettings& settings, const SolveUse& solve, int ranks,
                                    bool has_constant_grid) {
  using Kind = solver::MethodUse::Kind;
  const bool has_preconditioner =
      !settings.preconditioner.empty() && settings.preconditioner != "none";
  solver::MethodUse use{.preconditioner = settings.has_jacobi() ? Kind::diagonal
                                          : has_preconditioner  ? Kind::general
                                                                : Kind::none,
                        .rank_count = ranks,
                        .multigrid = settings.parsed_multigrid(),
                        .is_grid = settings.is_matrix_free(),
                        .shares_cycle = has_constant_grid && !solve.keeps_checkpoints &&
                                        settings.preconditioner == "multigrid"};
  if (settings.restart > 0) use.restart = settings.restart;
  if (const auto* const entry = solver::find_krylov_method(settings.method))
    return entry->needs(use);
  solver::MethodNeeds most = solver::krylov_methods().front().needs(use);
  if (settings.preconditioner.empty() && !settings.is_matrix_free()) return most;
  for (const solver::KrylovEntry& entry : solver::krylov_methods())
    if (is_candidate(entry, use, false))
      most.arrays = std::max(most.arrays, entry.needs(use).arrays);
  return most;
}

/// What coarse levels of amg will represent. `op`: the matrix, where it is there already, else
/// null. Collective.
solver::amg::ForecastNodes collective_nodes_of(const SolveSettings& settings,
                                               const spmv::Problem& problem,
                                               const spmv::SparseOperator* op) {
  const bool is_given =
      settings.block_size > 0 || !settings.near_null.empty() || !settings.coordinates.empty();
  if (op && !is_given)
    if (const int size = spmv::collective_find_node_size(op->communicator(), op->matrix().matrix());
        size > 1) {
      const double found = size == 2 ? 3 : size == 3 ? 6 : size;
      return {.exist = true, .vectors = found, .least_vectors = static_cast<double>(size)};
    }
  const bool has_nodes = !settings.coordinates.empty() || settings.block_size > 1 ||
                         (!settings.near_null.empty() && settings.block_size != 1) ||
                         problem.kind == spmv::ProblemKind::elasticity3d;
  constexpr double motions = 6;  // of a rigid body
  const bool has_motions = !settings.coordinates.empty() || !settings.near_null.empty() ||
                           problem.kind == spmv::ProblemKind::elasticity3d;
  const double vectors = !has_nodes ? 1 : has_motions ? motions : settings.block_size;
  constexpr double motions_in_a_plane = 3;
  const double least_vectors = !settings.near_null.empty()     ? 1
                               : !settings.coordinates.empty() ? motions_in_a_plane
                                                               : vectors;
  return {.exist = has_nodes, .vectors = vectors, .least_vectors = least_vectors};
}

/// Bytes of right-hand sides besides the first, of all solutions and guesses, and of a block.
double bytes_of_columns(const SolveSettings& settings, const SolveUse& use,
                        const SystemSize& size) {
  constexpr std::int64_t widest_block = 8;
  constexpr double arrays_of_block = 6;  // x, r, p, q, z, and p with its halo
  const auto count = static_cast<double>(use.column_count);
  const auto width = static_cast<double>(std::min(use.column_count, widest_block));
  const solver::KrylovEntry* const entry = solver::find_krylov_method(settings.method);
  const bool has_blocks = !entry || entry->has_blocks;
  const double arrays =
      2 * count - 1 + (use.has_start ? count : 0) + (has_blocks ? arrays_of_block * width : 0);
  return 8 * arrays * (size.elements_per_rank + size.halo_per_rank);
}

/// True if `auto` will take multigrid for a grid without a matrix.
bool takes_multigrid(const SolveSettings& settings, const spmv::Problem& problem) {
  const bool is_free = settings.preconditioner == "none";
  if (settings.method != "auto" || !is_free || !settings.is_matrix_free()) return false;
  const auto grid =
      problem.has_stencil() ? spmv::GridStencil::of(problem) : stencil_of(problem.grid);
  return needs_no_trial(grid, settings.stop);
}

SolveSettings with_multigrid(SolveSettings settings, const spmv::Problem& problem) {
  const solver::KrylovEntry& multigrid = solver::multigrid_entry();
  settings.method = problem.has_stencil() ? multigrid.name : solver::krylov_methods().front().name;
  if (!problem.has_stencil()) settings.preconditioner = "multigrid";
  settings.has_preconditioner = !problem.has_stencil();
  return settings;
}

}  // namespace

void collective_add_preconditioner(const SolveSettings& settings, const spmv::Problem& problem,
                                   const SystemSize& size, const spmv::SparseOperator* op,
                                   MemoryForecast& forecast) {
  if (const auto isai = settings.parsed_isai()) {
    // It is built before the vectors of the method are there, but for b and x.
    const double later = forecast.parts.back().bytes - 2 * 8 * size.elements_per_rank;
    const auto bytes = solver::IsaiPreconditioner::forecast_bytes(*isai, size);
    forecast.parts.push_back({"isai", std::max(bytes.held, bytes.building - later)});
  }
  if (const auto amg = settings.parsed_amg())
    forecast.parts.push_back({"amg", solver::amg::forecast_bytes(
                                         *amg, collective_nodes_of(settings, problem, op), size)});
}

MemoryForecast collective_forecast_solve(const Communicator& communicator,
                                         const spmv::Problem& problem,
                                         const SolveSettings& settings, const SolveUse& use,
                                         const spmv::SparseOperator* op) {
  if (takes_multigrid(settings, problem))
    return collective_forecast_solve(communicator, problem, with_multigrid(settings, problem), use,
                                     op);
  SystemSize size =
      collective_system_size(communicator, problem, settings, settings.is_matrix_free());
  // No method makes more than two products an iteration.
  size.has_many_products = 2 * settings.stop.max_iterations >= spmv::StorageTrial::least_products;
  if (op) {
    size.halo_per_rank = static_cast<double>(op->matrix().matrix().halo_columns.size());
    size.may_be_sliced = op->matrix().may_be_sliced();
    const std::string format = op->matrix().format_name();
    size.may_be_shifted = format == "CRS, shifted rows";
    size.may_be_numbered = format.starts_with("CRS, ") && !size.may_be_shifted;
  }
  MemoryForecast forecast =
      forecast_operator(communicator, size, settings, settings.is_matrix_free());
  const int ranks = communicator.size();
  const bool is_varying = problem.kind == spmv::ProblemKind::diffusion3d || !settings.grid.empty();
  const solver::MethodNeeds method =
      needs_of_method(settings, use, ranks, settings.is_matrix_free() && !is_varying);
  const double right_hand_side = 1;
  const double of_couplings = is_varying && settings.is_matrix_free() ? 3 : 0;
  const double of_diagonal = settings.has_jacobi() ? 2 : 0;
  const double with_halo = settings.is_matrix_free() ? 0 : 2;
  add_vectors(size, right_hand_side + method.arrays + of_couplings + of_diagonal, with_halo,
              arrays_of_multigrid(settings, problem, is_varying, ranks) +
                  (use.keeps_checkpoints ? method.carried : 0),
              forecast);
  if (use.column_count > 1)
    forecast.parts.push_back({"columns", bytes_of_columns(settings, use, size)});
  if (settings.scale == "rows" && !settings.is_matrix_free())
    forecast.parts.push_back(
        {"scaled rows", ScaledSystem::forecast_bytes(size, size.elements_per_rank)});
  if (is_varying && !settings.is_matrix_free() && settings.has_multigrid())
    forecast.parts.push_back(
        {"multigrid", bytes_of_matrix_multigrid(communicator, settings, problem, size)});
  collective_add_preconditioner(settings, problem, size, op, forecast);
  return forecast;
}

MemoryForecast collective_forecast_chosen(const LinearSystem& system, SolveSettings chosen,
                                          const SolveUse& use, const MemoryForecast& first) {
  chosen.has_preconditioner = true;
  chosen.order = system.ordering().word();
  MemoryForecast again = collective_forecast_solve(system.op().communicator(), system.problem(),
                                                   chosen, use, system.matrix_operator());
  again.parts.front() = first.parts.front();
  again.set_up = first.set_up;
  again.reached = first.reached;
  return again;
}

}  // namespace weft::library
