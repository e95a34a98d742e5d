#include "tools/system/jacobi_options.h"

#include "comm_thread/mpi/input_error.h"
#include "library/options/iteration_settings.h"
#include "library/options/matrix_settings.h"
#include "spmv/problems/problem.h"
#include "tools/job/effective_options.h"

namespace weft::tools {
namespace {

using comm_thread::InputError;

void need(bool is_so, const std::string& message) {
  if (!is_so) throw InputError(message);
}

}  // namespace

void JacobiOptions::check(const CLI::App& command) const {
  IterationSettings::check();
  need(is_grid() != !problem.empty(),
       is_grid() ? "found PROBLEM and --grid; expected one of them"
                 : "found neither PROBLEM nor --grid; expected one, such as --grid 100");
  if (!is_grid()) static_cast<void>(spmv::Problem::parse(problem));
  need(!is_threaded || is_grid(), "--transport openmp: found a matrix; expected --grid");
  check_needs(command, needs());
  checkpoints.check(command);
  if (has_schwarz())
    static_cast<void>(parsed_schwarz());
  else if (!inner.empty())
    static_cast<void>(inner_tolerance());
}

void add_jacobi_options(CLI::App& command, JacobiOptions& options) {
  const auto& sweeps = library::iteration_options();
  const auto& jacobi = library::jacobi_options();
  add_problem_option(command, options)
      .description(
          "poisson3d:N, elasticity3d:N, ..., or a file .mtx, .petsc, .npz, .h5, .txt, ...\n"
          "any square matrix with a nonzero diagonal, named as in weft solve; or --grid");
  bind_options(command, options, jacobi, {"grid", "partition"});
  bind_options(command, options, library::matrix_options(), {"format", "triangle", "base"});
  bind_options(command, options, jacobi, {"rhs", "lift"});
  bind_options(command, options, sweeps, {"variant", "mode"});
  bind_options(command, options, jacobi, {"transport", "inner"});
  bind_options(command, options, sweeps,
               {"in-flight", "detector", "tolerance", "max-iterations", "inject", "halo-period",
                "check-period"});
  bind_options(command, options, jacobi,
               {"weight", "momentum", "strict", "halo-depth", "no-time-blocks"});
  add_dry_run_option(command, options);
}

}  // namespace weft::tools
