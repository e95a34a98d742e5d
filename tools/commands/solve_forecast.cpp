#include "tools/commands/solve_forecast.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "solver/precondition/isai_preconditioner.h"

namespace weft::tools {
namespace {

constexpr int restart_of_gmres = 30;

/// Arrays of a rank's rows that multigrid without a matrix has beside those of problems in three
/// dimensions, measured: a grid of two has a plane of halo on either side of its only one.
double arrays_of_two_dimensions(const SolveOptions& options, const spmv::Problem& problem,
                                int ranks) {
  if (!options.is_matrix_free() || problem.kind != spmv::ProblemKind::poisson2d) return 0;
  if (options.method == "multigrid") return ranks > 1 ? 2 : 5;
  return options.preconditioner != "multigrid" ? 0 : ranks > 1 ? 7 : 5;
}

/// Arrays of a rank's rows that multigrid has, measured.
double arrays_of_multigrid(const SolveOptions& options, bool is_varying) {
  const bool is_method = options.method == "multigrid";
  if (options.preconditioner != "multigrid" && !(is_method && is_varying)) return 0;
  return (!is_varying ? 0
          : is_method ? 13.5
                      : 10) +
         (options.is_matrix_free() && !is_varying ? 2 : 4.2);
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

/// Bytes of amg and its set-up at their peak, measured: of a nonzero and of a row of the matrix.
/// Grids, meshes and elasticity with the motions of a rigid body come within 15 %, poisson2d and
/// small matrices within 25 % below it.
double bytes_of_amg(const Job& job, const SolveOptions& options, const spmv::Problem& problem,
                    const SystemSize& size) {
  const bool has_nodes = !options.coordinates.empty() || options.block_size > 1 ||
                         (!options.near_null.empty() && options.block_size != 1) ||
                         problem.kind == spmv::ProblemKind::elasticity3d;
  const double of_nonzeros = (has_nodes ? 51 : 23) * size.nonzeros;
  const double of_rows = (has_nodes ? 0 : 345) * size.rows;
  const double of_halo = 400;
  return (of_nonzeros + of_rows) / job.world().size() + of_halo * size.halo_per_rank;
}

/// Bytes of isai and its set-up at their peak, measured: rows of M, or of G and its transposed, as
/// lists, and the matrices made from them.
double bytes_of_isai(const Job& job, solver::IsaiPreconditioner::Form form,
                     const SystemSize& size) {
  const bool is_symmetric = form == solver::IsaiPreconditioner::Form::symmetric;
  const double sliced = size.may_be_sliced ? 12.7 : 0;
  const double of_nonzeros = ((is_symmetric ? 62 : 33) + sliced) * size.nonzeros;
  const double of_rows = (is_symmetric ? 84 : 30) * size.rows;
  const double of_halo = 400;
  return (of_nonzeros + of_rows) / job.world().size() + of_halo * size.halo_per_rank;
}

}  // namespace

MemoryForecast collective_forecast_solve(const Job& job, const SolveOptions& options,
                                         const spmv::Problem& problem) {
  const SystemSize size = collective_system_size(job, problem, options.is_matrix_free());
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
  const bool is_varying =
      options.is_matrix_free() && problem.kind == spmv::ProblemKind::diffusion3d;
  const double of_couplings = is_varying ? 3 : 0;
  const double of_diagonal = options.has_jacobi() ? 2 : 0;
  const double with_halo = options.is_matrix_free() ? 0 : 2;
  add_vectors(job, size, right_hand_side + of_method + of_couplings + of_diagonal, with_halo,
              arrays_of_multigrid(options, is_varying) +
                  arrays_of_two_dimensions(options, problem, job.world().size()) +
                  arrays_of_checkpoint(options, is_general),
              forecast);
  if (const auto isai = options.settings().parsed_isai())
    forecast.parts.push_back({"isai", bytes_of_isai(job, *isai, size)});
  if (options.preconditioner_name() == "amg")
    forecast.parts.push_back({"amg", bytes_of_amg(job, options, problem, size)});
  return forecast;
}

}  // namespace weft::tools
