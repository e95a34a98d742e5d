#include "tools/system/solve_options.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "solver/methods/method_table.h"
#include "tools/system/multigrid_word.h"
#include "tools/system/schwarz_word.h"

namespace weft::tools {
namespace {

using solver::SchwarzPreconditioner;

std::string fault_of_preconditioner(const std::string& text) {
  if (text == "none" || text == "jacobi" || text == "multigrid") return "";
  if (!is_schwarz(text))
    return "found '" + text +
           "'; expected none, jacobi, multigrid or "
           "schwarz[:overlap=G,subdomains=S,partition=P,kind=K]";
  return fault_of([&] { parse_schwarz(text, SchwarzPreconditioner::Kind::symmetric); });
}

std::vector<std::string> names_of_methods() {
  std::vector<std::string> names{"auto", "pcg-jacobi"};
  for (const solver::KrylovEntry& entry : solver::krylov_methods()) names.emplace_back(entry.name);
  return names;
}

std::string help_of_methods() {
  std::string text;
  for (const solver::KrylovEntry& entry : solver::krylov_methods())
    text += fmt::format("{}: {};\n", entry.name, entry.summary);
  return text +
         "auto: the variant of cg, or multigrid on a grid without a matrix, that a short trial\n"
         "shows to be quickest;\n"
         "pcg-jacobi: cg with --preconditioner jacobi";
}

/// NXxNY or NXxNYxNZ.
solver::MatrixMultigrid::Grid parse_grid(const std::string& text) {
  const std::string expected = "found '" + text + "'; expected NXxNY or NXxNYxNZ";
  std::vector<spmv::GlobalIndex> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const auto size = comm_thread::number_in<spmv::GlobalIndex>(text.substr(begin, end - begin));
    if (!size || *size < 1 || *size > std::int64_t{1} << 31)
      throw comm_thread::InputError(expected);
    sizes.push_back(*size);
    begin = end + 1;
  }
  if (sizes.size() < 2 || sizes.size() > 3) throw comm_thread::InputError(expected);
  const bool has_z = sizes.size() == 3;
  if (!has_z) sizes.push_back(1);
  constexpr spmv::GlobalIndex most = std::numeric_limits<spmv::GlobalIndex>::max();
  if (sizes[0] > most / sizes[1] || sizes[0] * sizes[1] > most / sizes[2])
    throw comm_thread::InputError(expected + " with fewer points");
  return {.size = {sizes[0], sizes[1], sizes[2]}, .has_boundary = {true, true, has_z}};
}

/// Multigrid needs to know which point of a grid a row is.
void check_multigrid(const SolveOptions& options) {
  const bool is_preconditioner = options.preconditioner == "multigrid";
  if (options.method == "multigrid" && !options.is_matrix_free())
    throw comm_thread::InputError(
        "--method multigrid: found --operator matrix; expected --operator stencil, or --method cg "
        "--preconditioner multigrid");
  if (options.method == "multigrid" && options.preconditioner != "none")
    throw comm_thread::InputError("--preconditioner: found " + options.preconditioner +
                                  " with --method multigrid; expected none");
  if (is_preconditioner && (options.order != "given" || options.partition == "metis"))
    throw comm_thread::InputError(
        "--preconditioner multigrid: found --order rcm or --partition metis; expected neither, "
        "because rows are points of the grid in its order");
  if (!options.grid.empty() && (!is_preconditioner || options.is_matrix_free()))
    throw comm_thread::InputError(
        "--grid: found without a matrix and --preconditioner multigrid; expected both");
  if (!options.multigrid.empty() && options.method != "multigrid" && options.method != "auto" &&
      !is_preconditioner)
    throw comm_thread::InputError("--multigrid: found with --method " + options.method +
                                  "; expected --method multigrid or --preconditioner multigrid");
  if (options.parsed_multigrid().has_full_start && options.method != "multigrid" &&
      options.method != "auto")
    throw comm_thread::InputError("--multigrid: found start=full with --method " + options.method +
                                  "; expected --method multigrid");
}

std::string fault_of_iterations(const std::string& text) {
  const auto iterations = comm_thread::number_in<std::int64_t>(text);
  return iterations && *iterations >= 0
             ? ""
             : "found '" + text + "'; expected a whole number, 0 or more";
}

}  // namespace

std::optional<SchwarzPreconditioner::Options> SolveOptions::parsed_schwarz(bool is_file) const {
  if (!is_schwarz(preconditioner)) return std::nullopt;
  auto options = parse_schwarz(preconditioner, SchwarzPreconditioner::Kind::symmetric);
  if (is_file && preconditioner.find("partition=") == std::string::npos)
    options.partition = SchwarzPreconditioner::Partition::graph;
  return options;
}

solver::MultigridSettings SolveOptions::parsed_multigrid() const {
  return parse_multigrid(multigrid);
}

bool SolveOptions::has_smoothing_steps() const {
  return multigrid.find("steps=") != std::string::npos;
}

std::optional<solver::MatrixMultigrid::Grid> SolveOptions::parsed_grid() const {
  if (grid.empty()) return std::nullopt;
  return parse_grid(grid);
}

void SolveOptions::check() const {
  if (const auto found = parsed_schwarz()) {
    if (is_matrix_free())
      throw comm_thread::InputError(
          "--preconditioner: found schwarz with --operator stencil; expected --operator matrix");
    if (method == "pcg-jacobi")
      throw comm_thread::InputError(
          "--preconditioner: found schwarz with --method pcg-jacobi; expected --method cg");
    const solver::KrylovEntry* const entry = solver::find_krylov_method(method);
    if (found->kind != SchwarzPreconditioner::Kind::symmetric &&
        (!entry || entry->needs_symmetric_preconditioner))
      throw comm_thread::InputError(
          "--preconditioner: found schwarz:kind=" + std::string(solver::name(found->kind)) +
          " with --method " + method +
          "; expected --method gmres or fcg, because it is not symmetric");
  }
  check_multigrid(*this);
  if (restart > 0 && method != "gmres")
    throw comm_thread::InputError("--restart: found with --method " + method +
                                  "; expected --method gmres");
  if (is_matrix_free() && (order != "given" || partition == "metis"))
    throw comm_thread::InputError(
        "--order, --partition metis: found with --operator stencil; expected --operator matrix, "
        "whose rows have an order");
  if (is_matrix_free() && format != "auto")
    throw comm_thread::InputError("--format: found with --operator stencil; expected a matrix");
}

void add_solve_options(CLI::App& command, SolveOptions& options) {
  add_problem_options(command, options);
  command
      .add_option(
          "--rhs", options.right_hand_side,
          "right-hand side: ones, boundary-one, random:SEED, x-random:SEED or a\n"
          "file .mtx, .mtx.gz, .npy, .petsc, .bin; default: boundary-one for grids, ones for\n"
          "files, random:1 otherwise")
      ->type_name("RHS");
  add_operator_option(command, options.operator_kind);
  command.add_option("--method", options.method, help_of_methods())
      ->check(CLI::IsMember(names_of_methods()))
      ->type_name("METHOD")
      ->capture_default_str();
  command
      .add_option(
          "--preconditioner", options.preconditioner,
          "jacobi: the diagonal; multigrid: one V-cycle, for grids and for matrices with --grid;\n"
          "schwarz[:overlap=G,subdomains=S,partition=P,kind=K]:\n"
          "additive Schwarz, S subdomains that grow by G layers, each solved by CHOLMOD;\n"
          "P: rows, consecutive ones, or metis, parts of each rank's graph, which is the default\n"
          "for files; K: symmetric;\n"
          "for gmres and fcg restricted, or optimized, whose condition between subdomains\n"
          "shift=P sets, from 1 (as restricted) towards 0 (Neumann); default: overlap 1,\n"
          "about 4096 rows each, shift 0.1")
      ->check(fault_of_preconditioner)
      ->type_name("none|jacobi|multigrid|schwarz[:...]")
      ->capture_default_str();
  command
      .add_option("--multigrid", options.multigrid,
                  "settings of multigrid as a method or a preconditioner, joined by commas:\n"
                  "steps=S: smoothing steps before and after each coarser grid, 1 to 4;\n"
                  "start=zero|full: x before the first iteration, 0 or, of the method, by full\n"
                  "multigrid: interpolated from solutions on coarser grids;\n"
                  "gather=N: a grid moves to fewer ranks where one has fewer than N points in\n"
                  "a direction that is cut; default:\n"
                  "steps=2, 4 where coefficients vary; start=zero,gather=8")
      ->check([](const std::string& text) { return fault_of([&] { parse_multigrid(text); }); })
      ->type_name("SETTINGS");
  command
      .add_option("--grid", options.grid,
                  "with --preconditioner multigrid and a matrix from a file: the points whose\n"
                  "rows they are, x fastest; the matrix is symmetric, with 7 points")
      ->check([](const std::string& text) { return fault_of([&] { parse_grid(text); }); })
      ->type_name("NXxNYxNZ");
  command
      .add_option("--restart", options.restart,
                  "gmres: iterations before a restart, and number of vectors kept; default: 30")
      ->check(CLI::Range(1, 1000))
      ->type_name("M");
  add_choice(command, "--mode", options.mode, {"vector", "overlap", "overlap-test", "task", "auto"},
             "halo exchange: vector (before the product), overlap (MPI, during it),\n"
             "overlap-test (MPI, tested at intervals during it) or task (communication\n"
             "thread, during it); results are the same to the last bit; auto: the quickest\n"
             "by a model of the product");
  command
      .add_option("--tolerance", options.stop.tolerance,
                  "end when the residual norm has fallen by this factor")
      ->check(fault_of_positive)
      ->capture_default_str();
  command
      .add_option("--max-iterations", options.stop.max_iterations, "end after this many iterations")
      ->check(fault_of_iterations)
      ->capture_default_str();
  add_format_option(command, options);
  command
      .add_option("--solution", options.solution_path,
                  "write x: Matrix Market .mtx or .mtx.gz, NumPy .npy, PETSc .petsc or .bin")
      ->type_name("FILE");
  command.add_flag("--dry-run", options.is_dry_run,
                   "only forecast the memory that each rank and node will need");
  add_job_options(command, options);
}

}  // namespace weft::tools
