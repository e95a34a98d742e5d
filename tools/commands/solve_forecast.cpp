#include "tools/commands/solve_forecast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "library/settings/method_choice.h"
#include "solver/amg/coarsening/gathering.h"
#include "solver/multigrid/grids/turned_grid.h"
#include "solver/precondition/isai_preconditioner.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/grid/stencil.h"
#include "spmv/matrix/storage_trial.h"

namespace weft::tools {
namespace {

constexpr int restart_of_gmres = 30;

/// Arrays that multigrid has beside the method's and the couplings, measured. `is_varying`: points
/// have couplings of their own, which on ranks are also sent to boxes of the grid.
double arrays_of_multigrid(const SolveOptions& options, const spmv::Problem& problem,
                           bool is_varying, int ranks) {
  const bool is_method = options.method == "multigrid";
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

struct StateSize {
  std::string_view method;
  double plain;
  double preconditioned;  // by a general one
};

/// Vectors that a checkpoint of a method copies.
double arrays_of_checkpoint(const SolveOptions& options, bool is_general) {
  if (!options.checkpoints.is_used()) return 0;
  constexpr std::array sizes{
      StateSize{"cg", 3, 4},           StateSize{"cg-one-reduction", 4, 5},
      StateSize{"cg-pipelined", 7, 9}, StateSize{"cg-pipelined-pr", 4, 6},
      StateSize{"minres", 7, 7},       StateSize{"gmres", 1, 1},
      StateSize{"fgmres", 1, 1},       StateSize{"bicgstab", 5, 5},
      StateSize{"multigrid", 3, 3},    StateSize{"bicgstab-pipelined", 7, 9},
  };
  const auto found = std::ranges::find(sizes, std::string_view(options.method), &StateSize::method);
  const StateSize& size = found == sizes.end() ? sizes.front() : *found;
  return is_general ? size.preconditioned : size.plain;
}

/// Aggregates that a row of amg's prolongator leads to, on grids and meshes.
constexpr double aggregates_of_row = 3.5;

/// Rows of other ranks whose rows of P and A·P one of amg's ranks gets for Pᵀ·A·P on the finest
/// level: those near its own rows. Where the order is random, they are not near to anything, but
/// no row comes twice, and only those come that lead to an aggregate of the rank.
/// `rows_of_halo`: rows an entry of the halo, measured.
double rows_of_amg_exchange(int ranks, double rows_of_halo, const SystemSize& size) {
  const double others = size.rows * (1 - 1.0 / ranks);
  const double leading_here = 1 - std::pow(1 - 1.0 / ranks, aggregates_of_row);
  return std::min(rows_of_halo * size.halo_per_rank, leading_here * others);
}

/// Bytes of rows of P and A·P that amg's ranks send each other for the product Pᵀ·A·P on the finest
/// level, at their peak: those near other ranks' rows; where coarse rows go to another rank because
/// there are few, also all rows of P, once more with other numbers, and the coarse rows, together
/// about as much as most rows of A·P. Measured: entries of a row, rows an entry of the halo, fine
/// rows a coarse one, that share. `vectors`: of a node, which coarse levels represent; 1 where rows
/// are no nodes; `least_vectors`: if there may be fewer. `gather_rows`: of amg's settings. What is
/// not known before messages are measured counts: that a level moves to one rank.
double bytes_of_amg_exchange(const Job& job, double vectors, double least_vectors,
                             spmv::GlobalIndex gather_rows, const SystemSize& size) {
  constexpr double entry_bytes = 12;
  constexpr double row_bytes = 24;  // its number and lengths, and the row of P
  constexpr double copies = 3;  // sent, received, and as rows of the product
  constexpr double unknowns = 3;
  const solver::amg::Gathering gathering(gather_rows);
  const double least_coarse_rows = static_cast<double>(gathering.rows_a_rank()) / vectors;
  const int ranks = job.world().size();
  if (ranks == 1) return 0;
  const double row_nonzeros = size.nonzeros / size.rows;
  const bool has_nodes = vectors > 1;
  const double entries = has_nodes ? 0.27 * vectors * row_nonzeros : 9 + 0.15 * row_nonzeros;
  const double rows_of_halo = has_nodes ? 1.8 : 0.76 + 0.04 * row_nonzeros;
  const double beside = copies * (row_bytes + entry_bytes * entries) *
                        rows_of_amg_exchange(ranks, rows_of_halo, size);
  const double nodes_of_aggregate = (has_nodes ? 0.9 : 1.6) * row_nonzeros;
  const double coarse_rows = size.rows / nodes_of_aggregate * (has_nodes ? vectors / unknowns : 1);
  const double groups = std::max(1.0, std::floor(coarse_rows / least_coarse_rows));
  const double gathered = groups < ranks ? std::ceil(ranks / groups) - 1 : 0;
  constexpr double share_of_moved = 0.85;
  const double of_moved_row = share_of_moved * entry_bytes * entries;
  const double moved =
      of_moved_row * std::min(1.0, gathered) * size.rows / ranks * (2 * gathered + 1);
  if (gathering.is_given()) return std::max(beside, moved);
  const auto most_rows = static_cast<double>(solver::amg::Gathering::most_fine_rows);
  const double rows_to_one = size.rows * least_vectors <= most_rows
                                 ? size.rows
                                 : std::min(coarse_rows, most_rows / vectors);
  const double to_one = of_moved_row * rows_to_one * (2 - 1.0 / ranks);
  return std::max({beside, moved, to_one});
}

/// Bytes of amg and its set-up at their peak, measured: of a nonzero and of a row of the matrix; of
/// short rows, whose coarse rows are short as well, in proportion to the nonzeros.
double bytes_of_amg(const Job& job, const SolveOptions& options, const spmv::Problem& problem,
                    const SystemSize& size) {
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
  // Measured with 3 and 6 vectors; on meshes, whose rows vary, and on grids.
  const bool is_mesh = !has_nodes && size.may_be_sliced;
  const double of_levels = has_nodes ? 49 * std::pow(vectors / motions, 1.4) * size.nonzeros
                           : is_mesh
                               ? 16 * size.nonzeros + 250 * size.rows
                               : std::min(13 * size.nonzeros + 320 * size.rows, 55 * size.nonzeros);
  // Numbers and places, measured, and a row of P.
  const double of_halo = 100 + 8 * (1 + aggregates_of_row * vectors);
  const double levels = of_levels / job.world().size();
  const double halo = of_halo * size.halo_per_rank;
  const auto settings = options.settings().parsed_amg().value_or(solver::amg::Settings{});
  const double exchange =
      bytes_of_amg_exchange(job, vectors, least_vectors, settings.gather_rows, size);
  const double in_huge_pages = is_mesh ? 5e6 : has_nodes ? 0 : 4e6;  // of which arrays use a part
  if (!is_mesh) return in_huge_pages + levels + halo + exchange;
  // The rows are sent when about half of the levels is there.
  return in_huge_pages + std::max(levels, 0.5 * levels + halo + 1.45 * exchange);
}

/// Bytes of isai: M, or G and its transposed, while they are built and afterwards.
struct IsaiBytes {
  double building = 0;
  double held = 0;
};

IsaiBytes bytes_of_isai(const Job& job, solver::IsaiPreconditioner::Form form,
                        const SystemSize& size) {
  constexpr double entry = 16;  // of a row that is solved for
  constexpr double stored = 12.4;
  constexpr double of_row = 8.5;
  constexpr double of_fetched_entry = 66;  // of another rank's row, sent and received, measured
  const double sliced = size.may_be_sliced && size.has_many_products ? 12.7 : 0;
  const double ranks = job.world().size();
  const double rows = size.rows / ranks;
  const double nonzeros = size.nonzeros / ranks;
  const double with_halo = 88 * size.halo_per_rank;
  const double fetched = of_fetched_entry * size.nonzeros / size.rows * size.halo_per_rank;
  if (form == solver::IsaiPreconditioner::Form::general) {
    const double held = (stored + sliced) * nonzeros + (of_row + 8) * rows + with_halo;
    return {std::max({held, fetched, (entry + stored) * nonzeros + 2 * of_row * rows}), held};
  }
  // One of the two, with its diagonal.
  const double half = (nonzeros + rows) / 2;
  const double of_rows = 3 * of_row * rows;
  const double both_as_rows = (2 * entry + stored) * half + of_rows;
  const double one_as_rows = (entry + 2 * stored + sliced) * half + of_rows;
  const double held = 2 * (stored + sliced) * half + (2 * of_row + 3 * 8) * rows + with_halo;
  return {std::max({held, fetched, both_as_rows, one_as_rows}), held};
}

/// Bytes of right-hand sides besides the first, of all solutions and guesses, and of a block.
double bytes_of_columns(const SolveOptions& options, const SystemSize& size) {
  constexpr std::int64_t widest_block = 8;
  constexpr double arrays_of_block = 6;  // x, r, p, q, z, and p with its halo
  const auto count = static_cast<double>(options.column_count);
  const auto width = static_cast<double>(std::min(options.column_count, widest_block));
  const bool has_blocks = options.method == "cg" || options.method == "auto";
  const double arrays = 2 * count - 1 + (options.initial_path.empty() ? 0 : count) +
                        (has_blocks ? arrays_of_block * width : 0);
  return 8 * arrays * (size.elements_per_rank + size.halo_per_rank);
}

/// Bytes of a matrix whose rows are scaled: values in the pattern of the given one, stored like
/// that, and the factors, residuals and solutions of the given system.
double bytes_of_scaled_rows(const Job& job, const SystemSize& size) {
  constexpr double arrays = 10;
  constexpr double sliced = 12.7;
  const double of_nonzero = 8 + (size.may_be_sliced && size.has_many_products ? sliced : 0);
  return of_nonzero * size.nonzeros / job.world().size() +
         8 * (arrays * size.elements_per_rank + size.halo_per_rank);
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
  options.method = problem.has_stencil() ? "multigrid" : "cg";
  if (problem.has_stencil()) return options;
  options.preconditioner = "multigrid";
  options.has_preconditioner = true;
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
  const bool has_preconditioner = options.preconditioner != "none";
  const bool is_general = has_preconditioner && !options.has_jacobi();
  const Preconditioning preconditioning = is_general             ? Preconditioning::general
                                          : options.has_jacobi() ? Preconditioning::diagonal
                                                                 : Preconditioning::none;
  // What is chosen for a matrix is not known yet; at least the vectors of cg are needed.
  const bool is_free =
      options.method == "auto" && !options.has_preconditioner && !options.is_matrix_free();
  const double of_method = arrays_of_method(
      is_free ? "cg" : options.method, options.restart > 0 ? options.restart : restart_of_gmres,
      preconditioning, options.is_matrix_free(), job.world().size());
  const double right_hand_side = 1;
  const bool is_varying = problem.kind == spmv::ProblemKind::diffusion3d || !options.grid.empty();
  const double of_couplings = is_varying && options.is_matrix_free() ? 3 : 0;
  const double of_diagonal = options.has_jacobi() ? 2 : 0;
  const double with_halo = options.is_matrix_free() ? 0 : 2;
  add_vectors(job, size, right_hand_side + of_method + of_couplings + of_diagonal, with_halo,
              arrays_of_multigrid(options, problem, is_varying, job.world().size()) +
                  arrays_of_checkpoint(options, is_general),
              forecast);
  if (options.column_count > 1)
    forecast.parts.push_back({"columns", bytes_of_columns(options, size)});
  if (options.scale == "rows" && !options.is_matrix_free())
    forecast.parts.push_back({"scaled rows", bytes_of_scaled_rows(job, size)});
  if (const auto isai = options.settings().parsed_isai()) {
    // It is built before the vectors of the method are there, but for b and x.
    const double later = forecast.parts.back().bytes - 2 * 8 * size.elements_per_rank;
    const IsaiBytes bytes = bytes_of_isai(job, *isai, size);
    forecast.parts.push_back({"isai", std::max(bytes.held, bytes.building - later)});
  }
  if (is_varying && !options.is_matrix_free() && options.settings().has_multigrid())
    forecast.parts.push_back({"multigrid", bytes_of_matrix_multigrid(job, options, problem, size)});
  if (options.preconditioner_name() == "amg")
    forecast.parts.push_back({"amg", bytes_of_amg(job, options, problem, size)});
  return forecast;
}

}  // namespace weft::tools
