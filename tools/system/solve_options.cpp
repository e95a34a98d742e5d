#include "tools/system/solve_options.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/settings/amg_word.h"
#include "library/settings/multigrid_word.h"
#include "solver/methods/method_table.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/formats/vtk_file.h"
#include "spmv/grid/grid_operator.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/problems/right_hand_side.h"
#include "tools/job/option_effects.h"

namespace weft::tools {
namespace {

std::string help_of_methods() {
  std::string text;
  for (const solver::KrylovEntry& entry : solver::krylov_methods())
    text += fmt::format("{}: {};\n", entry.name, entry.summary);
  return text +
         "auto: method and preconditioner that suit the matrix; the report says what was chosen,\n"
         "why, and the command that names it; with --preconditioner, without a matrix or where\n"
         "its grid is known, cg, or what a short trial shows to be quicker: a variant of cg or\n"
         "multigrid, as a method or as a preconditioner;\n"
         "pcg-jacobi: cg with --preconditioner jacobi;\n"
         "default: auto for a matrix from a file without --preconditioner, else cg";
}

std::string fault_of_iterations(const std::string& text) {
  const auto iterations = comm_thread::number_in<std::int64_t>(text);
  return iterations && *iterations >= 0
             ? ""
             : "found '" + text + "'; expected a whole number, 0 or more";
}

std::string fault_of_tolerance(const std::string& text) {
  const auto number = comm_thread::number_in<double>(text);
  return number && *number == 0 ? "" : fault_of_positive(text);
}

std::string fault_of_restart(const std::string& word) {
  const std::string found = "found '" + word + "'; expected a whole number from 1 to 1000";
  const auto number = comm_thread::number_in<int>(word);
  if (number && *number >= 1 && *number <= 1000) return "";
  const bool is_number = word.find_first_not_of("+-.0123456789") == std::string::npos;
  return is_number ? found : found + "; a file is continued by --restart-from";
}

/// From here on a matrix takes longer to build than multigrid to solve.
constexpr spmv::GlobalIndex least_rows_without_matrix = 27'000;

bool can_be_cut(const spmv::GridSize& grid, int rank_count) {
  return grid.x <= spmv::GridOperator::longest_row &&
         fault_of([&] { spmv::GridPartition(grid, rank_count); }).empty();
}

const std::vector<OptionEffect<SolveOptions>>& solve_effects() {
  using Options = SolveOptions;
  static const std::vector<OptionEffect<Options>> all{
      {{"--force"},
       [](const Options& options) {
         const solver::KrylovEntry* const entry = solver::find_krylov_method(options.method);
         return !entry || entry->needs_symmetric_matrix;
       },
       "with a method for any matrix",
       "one for symmetric matrices"},
      {{"--initial"},
       [](const Options& options) { return options.checkpoints.from.empty(); },
       "with --restart-from, which has an x, too",
       "one of them"},
      effect_of_interval<Options>()};
  return all;
}

}  // namespace

library::SolveSettings SolveOptions::settings() const {
  library::SolveSettings settings;
  settings.operator_kind = operator_kind;
  settings.format = format;
  settings.order = order;
  settings.partition = partition;
  settings.triangle = triangle;
  settings.base = base;
  settings.mode = mode;
  settings.method = method;
  settings.has_preconditioner = !preconditioner.empty();
  if (settings.has_preconditioner) settings.preconditioner = preconditioner;
  settings.null_space = null_space;
  settings.grid = grid;
  settings.cycle = cycle;
  settings.near_null = near_null;
  settings.coordinates = coordinates;
  settings.block_size = block_size;
  settings.restart = restart;
  settings.scale = scale;
  settings.force = force;
  settings.multigrid = multigrid;
  settings.stop = stop;
  settings.max_seconds = max_seconds;
  return settings;
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

void SolveOptions::set_defaults(const spmv::Problem& problem, int rank_count) {
  const bool is_free = problem.is_file() && preconditioner.empty() && grid.empty() &&
                       multigrid.empty() && restart == 0 && !force;
  if (method.empty()) method = is_free ? "auto" : "cg";
  const bool is_chosen = is_free && method == "auto";
  const bool needs_given_order = settings().has_multigrid() || settings().is_matrix_free() ||
                                 !multigrid.empty() || !grid.empty() || !near_null.empty() ||
                                 !coordinates.empty() || block_size > 0;
  if (order.empty() && needs_given_order) order = "given";
  order = order_of(problem);
  tries_modes = mode.empty() && is_chosen;
  if (mode.empty()) mode = is_chosen ? "auto" : "task";
  if (operator_kind == "auto") {
    const bool has_grid = problem.has_grid() && can_be_cut(problem.grid, rank_count) &&
                          (problem.row_count() > least_rows_without_matrix ||
                           settings().parsed_multigrid().has_full_start);
    const bool may_be_free = settings().has_multigrid() || settings().may_choose_multigrid();
    operator_kind = has_grid && may_be_free && !needs_matrix() ? "stencil" : "matrix";
  }
}

void SolveOptions::check(const CLI::App& command) const {
  settings().check();
  if (stop.tolerance == 0 && stop.absolute_tolerance == 0)
    throw comm_thread::InputError(
        "--tolerance: found '0'; expected a number above 0, or --absolute-tolerance");
  expect_effects(command, *this, solve_effects());
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
  add_problem_options(command, options);
  command
      .add_option(
          "--rhs", options.right_hand_side,
          "right-hand side: ones, boundary-one, random:SEED, x-random:SEED or a\n"
          "file .mtx, .mtx.gz, .npy, .npz, .petsc, .bin, .h5, .txt; where it has several columns,\n"
          "one system is solved for each; default: boundary-one for grids, ones for\n"
          "files, random:1 otherwise")
      ->type_name("RHS");
  add_choice(command, "--operator", options.operator_kind, {"auto", "matrix", "stencil"},
             "matrix, or stencil: no stored matrix; grid problems only, cut in three directions;\n"
             "auto: stencil for multigrid, or --method auto, on a grid of more than 27 000 points\n"
             "where no other option needs a matrix");
  command.add_option("--method", options.method, help_of_methods())
      ->check(CLI::IsMember(library::method_names()))
      ->type_name("METHOD");
  command
      .add_option(
          "--null-space", options.null_space,
          "of a singular matrix: constant, all entries equal, or a Matrix Market array file:\n"
          "it is projected out of the iteration and, where the matrix is symmetric, of b;\n"
          "none: not even where it is found; default: constant, where the matrix is an\n"
          "M-matrix whose rows all add up to zero")
      ->type_name("constant|none|FILE");
  add_choice(command, "--scale", options.scale, {"auto", "rows", "none"},
             "rows: where rows of the matrix differ in scale by more than 2^20, as by penalties,\n"
             "scale rows and columns by powers of two, and divide each row of the residual by its\n"
             "scale; auto: where --method auto chooses; none: never; default: auto");
  command.add_flag("--force", options.force,
                   "run a method that needs a symmetric matrix on one that is not");
  command
      .add_option(
          "--preconditioner", options.preconditioner,
          "jacobi: the diagonal; multigrid: one V-cycle, for grids and for matrices with --grid;\n"
          "amg[:strength=S,degree=K,direct=N,gather=R|auto,precision=P,cycle=C]:\n"
          "algebraic multigrid for symmetric positive definite matrices of any origin; S: the\n"
          "share of a row's strongest coupling from which one is strong; K: degree of the\n"
          "smoothing polynomial, 1 to 4; N: rows up to which a level is solved directly;\n"
          "R: a level moves to fewer ranks where one has fewer rows; auto: R=1000, and a level\n"
          "moves to one rank where exchanges take long; P: single or double, of the levels;\n"
          "C: V, W or auto, as --cycle;\n"
          "default:\n"
          "strength=0.25,degree=2,direct=400,gather=auto,precision=single,cycle=auto;\n"
          "schwarz[:overlap=G,subdomains=S,partition=P,kind=K]:\n"
          "additive Schwarz, S subdomains (0, the default: as many as suit) that grow by G\n"
          "layers, 0 to 64, each solved by CHOLMOD;\n"
          "P: rows, consecutive ones, or metis, parts of each rank's graph, which is the default\n"
          "for files in builds with METIS; K: symmetric;\n"
          "for gmres and fcg restricted, or optimized, whose condition between subdomains\n"
          "shift=P sets, from 1 (as restricted) towards 0 (Neumann); default: overlap 1,\n"
          "about 4096 rows each, shift 0.1; where they are not symmetric positive definite, and\n"
          "the method allows it, KLU solves them;\n"
          "ilu0[:subdomains=S,overlap=G], block-lu[:...]: the same without overlap, solved by\n"
          "ILU(0), about 8192 rows each, or by KLU;\n"
          "isai[:kind=general|symmetric]: a sparse approximate inverse with the pattern of the\n"
          "matrix; symmetric, a product of two triangles, where the method needs that")
      ->check(library::fault_of_preconditioner)
      ->type_name("none|jacobi|multigrid|amg[:...]|isai|ilu0|block-lu|schwarz[:...]");
  command
      .add_option(
          "--cycle", options.cycle,
          "with --preconditioner amg: V: one visit of each level; W: two corrections of each\n"
          "coarse level by the next; default: auto, W where it takes at most an eighth more\n"
          "work, else V")
      ->check([](const std::string& text) { return fault_of([&] { library::parse_cycle(text); }); })
      ->type_name("V|W|auto");
  command
      .add_option(
          "--near-null", options.near_null,
          "with --preconditioner amg: a Matrix Market array .mtx or .mtx.gz, whose columns\n"
          "the coarse levels keep exactly; default: the constant vector")
      ->type_name("FILE");
  command
      .add_option(
          "--coordinates", options.coordinates,
          "with --preconditioner amg, of elasticity: a Matrix Market array, a row of 2 or\n"
          "3 coordinates for each node, whose 2 or 3 displacements are consecutive rows of\n"
          "the matrix; coarse levels keep the motions of a rigid body")
      ->type_name("FILE");
  command
      .add_option("--block-size", options.block_size,
                  "with --preconditioner amg: as many consecutive rows are a node and stay\n"
                  "together; alone, coarse levels keep a constant for each of them; default: 1,\n"
                  "with --coordinates one for each")
      ->check(CLI::Range(1, 32))
      ->type_name("N");
  command
      .add_option("--multigrid", options.multigrid,
                  "settings of multigrid as a method or a preconditioner, joined by commas:\n"
                  "steps=S: smoothing steps before and after each coarser grid, 1 to 4;\n"
                  "start=zero|full: x before the first iteration, 0 or, of the method, by full\n"
                  "multigrid: interpolated from solutions on coarser grids;\n"
                  "precision=single|double: of the hierarchy; x, b and the residual are double;\n"
                  "gather=N|auto: a grid moves to fewer ranks where one has fewer than N points\n"
                  "in a direction that is cut; auto: by a model of measured messages; default:\n"
                  "steps=2, 4 where coefficients vary; start=zero,precision=single,gather=auto")
      ->check(
          [](const std::string& text) { return fault_of([&] { library::parse_multigrid(text); }); })
      ->type_name("SETTINGS");
  command
      .add_option("--grid", options.grid,
                  "with multigrid and a matrix from a file: the points whose\n"
                  "rows they are, x fastest; the matrix is symmetric, with 7 points")
      ->check([](const std::string& text) { return fault_of([&] { library::parse_grid(text); }); })
      ->type_name("NXxNYxNZ");
  command
      .add_option("--restart", options.restart,
                  "gmres, fgmres: iterations before a restart, and number of vectors kept;\n"
                  "default: 30")
      ->check(fault_of_restart)
      ->type_name("M");
  add_checkpoint_options(command, options.checkpoints, ", --max-seconds or\n--max-iterations",
                         "and threads and in any mode, with the bits of a solve that was not\n"
                         "interrupted; the problem, the method and the preconditioner as before");
  add_choice(command, "--mode", options.mode, {"vector", "overlap", "overlap-test", "task", "auto"},
             "halo exchange: vector (before the product), overlap (MPI, during it),\n"
             "overlap-test (MPI, tested at intervals during it) or task (communication\n"
             "thread, during it); results are the same to the last bit; auto: the quickest\n"
             "by a model of the product; default: task, but with --method auto for a file\n"
             "what a short trial shows to be quickest");
  command
      .add_option("--tolerance", options.stop.tolerance,
                  "end when the residual norm is below this factor times that of b; 0: only\n"
                  "--absolute-tolerance counts")
      ->check(fault_of_tolerance)
      ->capture_default_str();
  command
      .add_option("--max-iterations", options.stop.max_iterations, "end after this many iterations")
      ->check(fault_of_iterations)
      ->capture_default_str();
  command
      .add_option("--absolute-tolerance", options.stop.absolute_tolerance,
                  "end, too, when the residual norm is below this number; default: 0")
      ->check(fault_of_positive);
  command
      .add_option("--max-seconds", options.max_seconds,
                  "end the solve after this time, set-up not counted, with exit code 6; with\n"
                  "several right-hand sides, the solve for each")
      ->check(fault_of_positive)
      ->type_name("SECONDS");
  command
      .add_option(
          "--initial", options.initial_path,
          "x to begin with, a file as for --rhs, with as many columns; the solve still ends\n"
          "where the residual is small compared with b; default: 0")
      ->type_name("FILE");
  add_format_option(command, options);
  command
      .add_option("--solution", options.solution_path,
                  "write x: Matrix Market .mtx or .mtx.gz, NumPy .npy, PETSc .petsc or .bin,\n"
                  "HDF5 .h5, and of a grid VTK's images .vti or .pvti; of several right-hand\n"
                  "sides as columns: .mtx, .mtx.gz, .npy or .h5")
      ->type_name("FILE");
  add_dry_run_option(command, options);
  add_job_options(command, options);
}

}  // namespace weft::tools
