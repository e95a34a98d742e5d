#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "library/settings/solve_settings.h"
#include "solver/report/stop_criterion.h"
#include "spmv/problems/problem.h"
#include "tools/job/system_options.h"
#include "tools/system/checkpoint_options.h"

namespace weft::tools {

/// Options of `weft solve`.
struct SolveOptions : SystemOptions {
  SolveOptions() { order.clear(); }  // as the mode: not given, until `set_defaults`

  std::string right_hand_side;
  std::int64_t column_count = 1;  // right-hand sides; of a file, once it has been looked into
  std::string operator_kind = "auto";  // until `set_defaults`
  std::string mode;  // empty where not given, until `set_defaults`
  bool tries_modes = false;  // `auto` stands for a short trial, without a model of the modes
  std::string method;  // empty where not given, until `set_defaults`
  std::string preconditioner;  // empty where not given
  std::string grid;  // of the rows of a matrix; empty where not given
  std::string null_space;  // constant, none or a file; empty: found where it is easy
  std::string cycle;  // of amg; empty where not given
  std::string near_null;  // a file of vectors for amg; empty where not given
  std::string coordinates;  // a file of the nodes' coordinates; the same
  int block_size = 0;  // rows of a node; 0: not given
  std::string scale = "auto";  // of rows
  bool force = false;  // a matrix that is not symmetric where the method needs one that is
  int restart = 0;  // of gmres, as given; 0: the default
  CheckpointOptions checkpoints;
  std::string multigrid;  // its settings, as given
  std::string solution_path;
  std::string initial_path;  // x to begin with; empty: zero
  double max_seconds = 0;  // of the solve; 0: no limit
  solver::StopCriterion stop;

  /// Says what is not given. `method`: `auto` for a file without anything that needs another one,
  /// else `cg`. `order`: `auto` for a file, unless an option needs the given one, else as given.
  /// `mode`: `auto` with method `auto` for a file, else `task`.
  /// `operator_kind`: `stencil` for multigrid, or `auto`, on a large grid that `rank_count` ranks
  /// can share, where nothing needs a matrix; else `matrix`.
  void set_defaults(const spmv::Problem& problem, int rank_count);

  /// Throws comm_thread::InputError where the options of `command` contradict each other or have no
  /// effect. After `set_defaults`.
  void check(const CLI::App& command) const;
  /// Throws comm_thread::InputError where several right-hand sides cannot be solved for so.
  void check_columns() const;

  bool is_matrix_free() const { return operator_kind == "stencil"; }
  bool has_jacobi() const { return preconditioner == "jacobi" || method == "pcg-jacobi"; }

  /// The preconditioner without its parameters.
  std::string preconditioner_name() const { return settings().preconditioner_name(); }
  library::SolveSettings settings() const;

 private:
  bool needs_matrix() const;
};

void add_solve_options(CLI::App& command, SolveOptions& options);

}  // namespace weft::tools
