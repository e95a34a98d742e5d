#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "solver/krylov/method.h"
#include "solver/krylov/multigrid_settings.h"
#include "solver/krylov/stop_criterion.h"
#include "solver/multigrid/matrix_multigrid.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "tools/job/system_options.h"

namespace weft::tools {

/// Options of `weft solve`.
struct SolveOptions : SystemOptions {
  std::string right_hand_side;
  std::string operator_kind = "matrix";
  std::string mode = "task";
  std::string method = "cg";
  std::string preconditioner = "none";
  std::string grid;  // of the rows of a matrix; empty where not given
  int restart = 0;  // as given; 0: the default
  std::string multigrid;  // its settings, as given
  std::string solution_path;
  bool is_dry_run = false;  // only the forecast of memory
  solver::StopCriterion stop;

  bool is_matrix_free() const { return operator_kind == "stencil"; }
  bool has_jacobi() const { return preconditioner == "jacobi" || method == "pcg-jacobi"; }

  /// Nothing without it. `is_file`: the matrix is one from a file, whose rows may be in any order,
  /// so that subdomains are parts of its graph unless the options say otherwise.
  /// Throws comm_thread::InputError where its options are none.
  std::optional<solver::SchwarzPreconditioner::Options> parsed_schwarz(bool is_file = false) const;

  /// Throws comm_thread::InputError.
  solver::MultigridSettings parsed_multigrid() const;
  /// True if --multigrid says how many steps; else there are as many as the problem needs.
  bool has_smoothing_steps() const;
  /// Nothing without --grid. Throws comm_thread::InputError where it is none.
  std::optional<solver::MatrixMultigrid::Grid> parsed_grid() const;

  /// Throws comm_thread::InputError where options contradict each other.
  void check() const;
};

void add_solve_options(CLI::App& command, SolveOptions& options);

}  // namespace weft::tools
