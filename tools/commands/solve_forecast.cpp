#include "tools/commands/solve_forecast.h"

#include <algorithm>
#include <array>

#include "library/settings/method_choice.h"
#include "library/solve/scaled_system.h"
#include "solver/amg/amg_forecast.h"
#include "solver/methods/method_table.h"
#include "solver/multigrid/grids/turned_grid.h"
#include "solver/precondition/isai_preconditioner.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/grid/stencil.h"
#include "spmv/matrix/storage_trial.h"
#include "spmv/rows/node_pattern.h"

namespace weft::tools {
namespace {

/// Arrays that multigrid has beside the method's and the couplings, measured. `is_varying`: points
/// have couplings of their own, which on ranks are also sent to boxes of the grid.
double arrays_of_multigrid(const SolveOptions& options, const spmv::Problem& problem,
                           bool is_varying, int ranks) {
  const solver::KrylovEntry* const entry = solver::find_krylov_method(options.method);
  const bool is_method = entry && entry->needs_grid;
  if (is_method && options.is_matrix_free() && !is_varying &&
      solver::TurnedGrid::direction_for(spmv::GridStencil::of(problem)) != 0)
    return 2;  // b and x
  if (options.preconditioner != "multigrid" && !(is_method && is_varying)) return 0;
  if (!options.is_matrix_free()) return !is_varying ? 4.2 : is_method ? 2.5 : 0;
  if (!is_varying) return 2;
  if (is_method) return ranks > 1 ? 6.5 : 7.5;
  return ranks > 1 ? 7.2 : 5.5;
}

/// Bytes of one array on each of the grids of a rank's box that become coarser in the directions of
/// which `is_coarsened` is true.
double bytes_of_grids(spmv::GridBox box, const std::array<bool, 3>& is_coarsened) {
  constexpr int depth = 2;
  constexpr int floats_of_line = 16;
  constexpr spmv::GlobalIndex least_points = 3;  // of a direction, to be coarsened once more
  double bytes = 0;
  for (bool is_coarser = true; is_coarser;) {
    const spmv::GridLayout layout(box, depth, floats_of_line);
    const double used = sizeof(float) * static_cast<double>(layout.element_count());
    bytes += bytes_of_pages(0, used, used);
    is_coarser = false;
    for (std::size_t d = 0; d < 3; ++d) {
      if (!is_coarsened[d] || box.size(d) < least_points) continue;
      box.end[d] = box.begin[d] + box.size(d) / 2;
      is_coarser = true;
    }
  }
  return bytes;
}

/// Bytes of multigrid for a matrix whose couplings vary on a grid, measured. A file may have
/// couplings so different that one direction is coarsened after the other.
double bytes_of_matrix_multigrid(const Job& job, const SolveOptions& options,
                                 const spmv::Problem& problem, const SystemSize& size) {
  const auto given = options.settings().parsed_grid();
  const bool is_file = given.has_value();
  const spmv::GridSize grid = is_file ? given->size : problem.grid;
  // Another size is refused when the matrix is there.
  if (static_cast<double>(grid.x) * static_cast<double>(grid.y) * static_cast<double>(grid.z) !=
      size.rows)
    return 0;
  const int ranks = job.world().size();
  const spmv::GridBox own = spmv::GridPartition(grid, ranks).box(job.world().rank());
  double bytes = bytes_of_grids(own, {true, true, true});
  for (std::size_t d = 0; d < 3 && is_file; ++d)
    bytes = std::max(bytes, bytes_of_grids(own, {d == 0, d == 1, d == 2}));
  const double arrays = ranks > 1 ? 11.6 : 7;  // on ranks the couplings go to boxes of the grid
  const double of_values = options.settings().parsed_multigrid().is_double ? 2 : 1;
  return of_values * arrays * bytes;
}

/// What the method of `options` needs. What is chosen for a matrix is not known yet: at least the
/// vectors of cg. Of what trials choose, the most that one of them needs.
solver::MethodNeeds needs_of_method(const SolveOptions& options, int ranks) {
  using Kind = solver::MethodUse::Kind;
  const bool has_preconditioner =
      !options.preconditioner.empty() && options.preconditioner != "none";
  solver::MethodUse use{.preconditioner = options.has_jacobi() ? Kind::diagonal
                                          : has_preconditioner ? Kind::general
                                                               : Kind::none,
                        .rank_count = ranks,
                        .multigrid = options.settings().parsed_multigrid(),
                        .is_grid = options.is_matrix_free()};
  if (options.restart > 0) use.restart = options.restart;
  if (const auto* const entry = solver::find_krylov_method(options.method))
    return entry->needs(use);
  solver::MethodNeeds most = solver::krylov_methods().front().needs(use);
  if (options.preconditioner.empty() && !options.is_matrix_free()) return most;
  for (const solver::KrylovEntry& entry : solver::krylov_methods())
    if (library::is_candidate(entry, use, false))
      most.arrays = std::max(most.arrays, entry.needs(use).arrays);
  return most;
}

/// What coarse levels of amg will represent.
/// `op`: the matrix, where it is there already, else null. Collective.
solver::amg::ForecastNodes collective_nodes_of(const SolveOptions& options,
                                               const spmv::Problem& problem,
                                               const spmv::SparseOperator* op) {
  const bool is_given =
      options.block_size > 0 || !options.near_null.empty() || !options.coordinates.empty();
  if (op && !is_given)
    if (const int size = spmv::collective_find_node_size(op->communicator(), op->matrix().matrix());
        size > 1) {
      const double found = size == 2 ? 3 : size == 3 ? 6 : size;
      return {.exist = true, .vectors = found, .least_vectors = static_cast<double>(size)};
    }
  const bool has_nodes = !options.coordinates.empty() || options.block_size > 1 ||
                         (!options.near_null.empty() && options.block_size != 1) ||
                         problem.kind == spmv::ProblemKind::elasticity3d;
  constexpr double motions = 6;  // of a rigid body
  const bool has_motions = !options.coordinates.empty() || !options.near_null.empty() ||
                           problem.kind == spmv::ProblemKind::elasticity3d;
  const double vectors = !has_nodes ? 1 : has_motions ? motions : options.block_size;
  constexpr double motions_in_a_plane = 3;
  const double least_vectors = !options.near_null.empty()     ? 1
                               : !options.coordinates.empty() ? motions_in_a_plane
                                                              : vectors;
  return {.exist = has_nodes, .vectors = vectors, .least_vectors = least_vectors};
}

/// Bytes of right-hand sides besides the first, of all solutions and guesses, and of a block.
double bytes_of_columns(const SolveOptions& options, const SystemSize& size) {
  constexpr std::int64_t widest_block = 8;
  constexpr double arrays_of_block = 6;  // x, r, p, q, z, and p with its halo
  const auto count = static_cast<double>(options.column_count);
  const auto width = static_cast<double>(std::min(options.column_count, widest_block));
  const solver::KrylovEntry* const entry = solver::find_krylov_method(options.method);
  const bool has_blocks = !entry || entry->has_blocks;
  const double arrays = 2 * count - 1 + (options.initial_path.empty() ? 0 : count) +
                        (has_blocks ? arrays_of_block * width : 0);
  return 8 * arrays * (size.elements_per_rank + size.halo_per_rank);
}

/// True if `auto` will take multigrid for a grid without a matrix.
bool takes_multigrid(const SolveOptions& options, const spmv::Problem& problem) {
  const bool is_free = options.preconditioner == "none";
  if (options.method != "auto" || !is_free || !options.is_matrix_free()) return false;
  const auto grid =
      problem.has_stencil() ? spmv::GridStencil::of(problem) : library::stencil_of(problem.grid);
  return library::needs_no_trial(grid, options.stop);
}

SolveOptions with_multigrid(SolveOptions options, const spmv::Problem& problem) {
  const solver::KrylovEntry& multigrid = solver::multigrid_entry();
  options.method = problem.has_stencil() ? multigrid.name : solver::krylov_methods().front().name;
  if (!problem.has_stencil()) options.preconditioner = "multigrid";
  options.has_preconditioner = !problem.has_stencil();
  return options;
}

}  // namespace

MemoryForecast collective_forecast_solve(const Job& job, const SolveOptions& options,
                                         const spmv::Problem& problem,
                                         const spmv::SparseOperator* op) {
  if (takes_multigrid(options, problem))
    return collective_forecast_solve(job, with_multigrid(options, problem), problem, op);
  SystemSize size = collective_system_size(job, problem, options, options.is_matrix_free());
  // No method makes more than two products an iteration.
  size.has_many_products = 2 * options.stop.max_iterations >= spmv::StorageTrial::least_products;
  if (op) {
    size.halo_per_rank = static_cast<double>(op->matrix().matrix().halo_columns.size());
    size.may_be_sliced = op->matrix().may_be_sliced();
    size.may_be_shifted = op->matrix().format_name() == "CRS, shifted rows";
  }
  MemoryForecast forecast = forecast_operator(job, size, options, options.is_matrix_free());
  const int ranks = job.world().size();
  const solver::MethodNeeds method = needs_of_method(options, ranks);
  const double right_hand_side = 1;
  const bool is_varying = problem.kind == spmv::ProblemKind::diffusion3d || !options.grid.empty();
  const double of_couplings = is_varying && options.is_matrix_free() ? 3 : 0;
  const double of_diagonal = options.has_jacobi() ? 2 : 0;
  const double with_halo = options.is_matrix_free() ? 0 : 2;
  add_vectors(job, size, right_hand_side + method.arrays + of_couplings + of_diagonal, with_halo,
              arrays_of_multigrid(options, problem, is_varying, ranks) +
                  (options.checkpoints.is_used() ? method.carried : 0),
              forecast);
  if (options.column_count > 1)
    forecast.parts.push_back({"columns", bytes_of_columns(options, size)});
  if (options.scale == "rows" && !options.is_matrix_free())
    forecast.parts.push_back(
        {"scaled rows", library::ScaledSystem::forecast_bytes(size, size.elements_per_rank)});
  if (const auto isai = options.settings().parsed_isai()) {
    // It is built before the vectors of the method are there, but for b and x.
    const double later = forecast.parts.back().bytes - 2 * 8 * size.elements_per_rank;
    const auto bytes = solver::IsaiPreconditioner::forecast_bytes(*isai, size);
    forecast.parts.push_back({"isai", std::max(bytes.held, bytes.building - later)});
  }
  if (is_varying && !options.is_matrix_free() && options.settings().has_multigrid())
    forecast.parts.push_back({"multigrid", bytes_of_matrix_multigrid(job, options, problem, size)});
  if (options.preconditioner_name() == "amg")
    forecast.parts.push_back(
        {"amg", solver::amg::forecast_bytes(options.settings().parsed_amg().value(),
                                            collective_nodes_of(options, problem, op), size)});
  return forecast;
}

}  // namespace weft::tools
