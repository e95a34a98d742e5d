#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "solver/krylov/method.h"
#include "solver/krylov/multigrid_settings.h"
#include "solver/krylov/stop_criterion.h"
#include "solver/multigrid/matrix_multigrid.h"
#include "solver/precondition/isai_preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "tools/job/system_options.h"

namespace weft::tools {

/// Options of `weft solve`.
struct SolveOptions : SystemOptions {
  std::string right_hand_side;
  std::string operator_kind = "matrix";
  std::string mode = "task";
  std::string method;  // empty where not given, until `set_defaults`
  std::string preconditioner;  // the same
  std::string grid;  // of the rows of a matrix; empty where not given
  std::string null_space;  // constant, none or a file; empty: found where it is easy
  bool force = false;  // a matrix that is not symmetric where the method needs one that is
  int restart = 0;  // as given; 0: the default
  std::string multigrid;  // its settings, as given
  std::string solution_path;
  solver::StopCriterion stop;

  /// Names the method and the preconditioner that are not given. True if neither was, nor anything
  /// that needs one of them.
  bool set_defaults();

  bool is_matrix_free() const { return operator_kind == "stencil"; }
  bool has_jacobi() const { return preconditioner == "jacobi" || method == "pcg-jacobi"; }

  /// Of `schwarz`, `ilu0` and `block-lu`; nothing without one. Throws comm_thread::InputError where
  /// its options are none.
  std::optional<solver::SchwarzPreconditioner::Options> parsed_schwarz() const;
  /// Nothing without `isai`.
  std::optional<solver::IsaiPreconditioner::Form> parsed_isai() const;
  /// The preconditioner without its parameters.
  std::string preconditioner_name() const {
    return preconditioner.substr(0, preconditioner.find(':'));
  }
  /// True if the method, or all that `auto` may choose, needs a symmetric M.
  bool needs_symmetric_preconditioner() const;

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
