#include "tools/system/solve_options.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/system/numbered_files.h"
#include "solver/methods/method_table.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/formats/vtk_file.h"
#include "spmv/grid/grid_operator.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/problems/right_hand_side.h"
#include "tools/job/effective_options.h"

namespace weft::tools {
namespace {

/// From here on a matrix takes longer to build than multigrid to solve.
constexpr spmv::GlobalIndex least_rows_without_matrix = 27'000;

bool can_be_cut(const spmv::GridSize& grid, int rank_count) {
  return grid.x <= spmv::GridOperator::longest_row &&
         fault_of([&] { spmv::GridPartition(grid, rank_count); }).empty();
}

const library::OptionTable<SolveOptions>& vector_options() {
  using V = library::Values<SolveOptions>;
  using Group = library::OptionGroup;
  static const library::OptionTable<SolveOptions> all{
      {"rhs", Group::problem,
       "right-hand side: ones, random:SEED, ... or a file\n"
       "ones, boundary-one, random:SEED, x-random:SEED or a file .mtx, .mtx.gz, .npy, .npz,\n"
       ".petsc, .bin, .h5, .txt; where it has several columns, one system is solved for each;\n"
       "default: boundary-one for grids, ones for files, random:1 otherwise",
       V::text(&SolveOptions::right_hand_side, "RHS")},
      {"sequence", Group::problem,
       "solves with the matrices A_%03d.petsc, one after the other\n"
       "in the place of PROBLEM: files by their numbers, from 0 or 1 on; --rhs may be such a\n"
       "pattern; a solve uses what those before have found, unless with --recycle none",
       V::checked(
           &SolveOptions::sequence,
           [](const std::string& word) { return library::NumberedFiles(word).path(0); },
           "PATTERN")},
      {"initial", Group::problem,
       "x to begin with; default: 0\n"
       "a file as for --rhs, with as many columns; the solve still ends where the residual is\n"
       "small compared with b",
       V::text(&SolveOptions::initial_path, "FILE")},
      {"solution", Group::output,
       "writes x: .mtx, .npy, .petsc, .h5, .vti\n"
       "Matrix Market .mtx or .mtx.gz, NumPy .npy, PETSc .petsc or .bin, HDF5 .h5, and of a\n"
       "grid VTK's images .vti or .pvti; of several right-hand sides as columns: .mtx,\n"
       ".mtx.gz, .npy or .h5",
       V::text(&SolveOptions::solution_path, "FILE")}};
  return all;
}

}  // namespace

SolveOptions::SolveOptions() {
  order.clear();
  mode.clear();
  method.clear();
  recycle.clear();
  operator_kind = "auto";
}

bool SolveOptions::needs_matrix() const {
  const bool has_order = scale == "rows" || order != "given" || partition != "rows" ||
                         format != "auto" || !triangle.empty() || !base.empty();
  const bool reads_file =
      !initial_path.empty() ||
      (!right_hand_side.empty() &&
       spmv::RightHandSide::parse(right_hand_side).kind == spmv::RightHandSideKind::file);
  return has_order || reads_file || !grid.empty() || !(null_space.empty() || null_space == "none");
}

void SolveOptions::set_defaults(const spmv::Problem& of, int rank_count) {
  const bool is_free = of.is_file() && !has_preconditioner && grid.empty() && multigrid.empty() &&
                       restart == 0 && !force;
  if (method.empty()) method = is_free ? "auto" : "cg";
  const bool is_chosen = is_free && method == "auto";
  const bool needs_given_order = has_multigrid() || is_matrix_free() || !multigrid.empty() ||
                                 !grid.empty() || !near_null.empty() || block_size > 0 ||
                                 (!coordinates.empty() && coordinates != library::estimated);
  if (order.empty() && needs_given_order) order = "given";
  order = order_of(of);
  if (recycle.empty()) recycle = sequence.empty() ? "none" : "auto";
  if (!sequence.empty()) order = "given";
  if (!sequence.empty() && (mode.empty() || mode == "auto")) mode = "task";
  tries_modes = mode.empty() && is_chosen;
  if (mode.empty()) mode = is_chosen ? "auto" : "task";
  if (operator_kind == "auto") {
    const bool has_grid =
        of.has_grid() && can_be_cut(of.grid, rank_count) &&
        (of.row_count() > least_rows_without_matrix || parsed_multigrid().has_full_start);
    const bool may_be_free = has_multigrid() || may_choose_multigrid();
    operator_kind = has_grid && may_be_free && !needs_matrix() ? "stencil" : "matrix";
  }
}

void SolveOptions::check(const CLI::App& command) const {
  SolveSettings::check();
  if (stop.tolerance == 0 && stop.absolute_tolerance == 0)
    throw comm_thread::InputError(
        "--tolerance: found '0'; expected a number above 0, or --absolute-tolerance");
  const solver::KrylovEntry* const entry = solver::find_krylov_method(method);
  check_needs(command, {{{"force"},
                         !entry || entry->needs_symmetric_matrix,
                         "with a method for any matrix",
                         "one for symmetric matrices"},
                        {{"initial"}, !is_matrix_free(), "with --operator stencil", "a matrix"},
                        {{"recycle"}, !sequence.empty(), "without --sequence", "both"},
                        {{"sequence"},
                         sequence.empty() || problem == library::NumberedFiles(sequence).path(0),
                         "with " + problem,
                         "one of them"},
                        {{"initial", "solution", "order", "partition", "dry-run", "trace"},
                         sequence.empty(),
                         "with --sequence",
                         "one of them"},
                        {{"initial"},
                         checkpoints.from.empty(),
                         "with --restart-from, which has an x, too",
                         "one of them"}});
  checkpoints.check(command);
}

void SolveOptions::check_columns() const {
  if (column_count == 1) return;
  const auto refuse = [&](const std::string& option, const std::string& expected) {
    throw comm_thread::InputError(fmt::format("{}: found with {} right-hand sides; expected {}",
                                              option, column_count, expected));
  };
  if (!checkpoints.path.empty()) refuse("--checkpoint", "one, of which states are kept");
  if (!checkpoints.from.empty()) refuse("--restart " + checkpoints.from, "one, as in that file");
  if (!trace_path.empty()) refuse("--trace", "one, whose iterations are drawn");
  if (spmv::is_vtk_file(solution_path))
    refuse("--solution " + solution_path,
           "FILE.mtx, FILE.mtx.gz, FILE.npy or FILE.h5, which hold several as columns");
  if (!solution_path.empty()) spmv::check_vector_output(solution_path, column_count);
}

void add_solve_options(CLI::App& command, SolveOptions& options) {
  const auto& of_solve = library::solve_options();
  add_problem_option(command, options);
  bind_options(command, options, vector_options(), {"rhs", "sequence"});
  bind_options(command, options, of_solve,
               {"operator", "method", "preconditioner", "tolerance", "max-iterations",
                "max-seconds", "order", "triangle", "coordinates", "grid"});
  bind_options(command, options, vector_options(), {"initial"});
  bind_options(
      command, options, of_solve,
      {"mode", "partition", "format", "base", "null-space", "scale", "force", "cycle", "near-null",
       "block-size", "multigrid", "restart", "absolute-tolerance", "recycle"});
  add_checkpoint_options(command, options.checkpoints, ", --max-seconds or\n--max-iterations",
                         "and threads and in any mode, with the bits of a solve that was not\n"
                         "interrupted; the problem, the method and the preconditioner as before");
  add_dry_run_option(command, options);
  bind_options(command, options, vector_options(), {"solution"});
  add_job_options(command, options);
}

}  // namespace weft::tools
