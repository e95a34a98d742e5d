#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "library/options/solve_settings.h"
#include "solver/report/stop_criterion.h"
#include "spmv/problems/problem.h"
#include "tools/job/system_options.h"
#include "tools/system/checkpoint_options.h"

namespace weft::tools {

/// Options of `weft solve`.
struct SolveOptions : SystemOptions, library::SolveSettings {
  SolveOptions();  // order, mode, method and operator are not given, until `set_defaults`

  std::string right_hand_side;
  std::int64_t column_count = 1;  // right-hand sides; of a file, once it has been looked into
  bool tries_modes = false;  // `auto` stands for a short trial, without a model of the modes
  CheckpointOptions checkpoints;
  std::string solution_path;
  std::string sequence;  // a pattern of matrix files; empty: one problem
  std::string initial_path;  // x to begin with; empty: zero

  /// Says what is not given. `method`: `auto` for a file without anything that needs another one,
  /// else `cg`. `order`: `auto` for a file, unless an option needs the given one, else as given.
  /// `mode`: `auto` with method `auto` for a file, else `task`.
  /// `operator_kind`: `stencil` for multigrid, or `auto`, on a large grid that `rank_count` ranks
  /// can share, where nothing needs a matrix; else `matrix`.
  void set_defaults(const spmv::Problem& of, int rank_count);

  /// Throws comm_thread::InputError where the options of `command` contradict each other or have no
  /// effect. After `set_defaults`.
  void check(const CLI::App& command) const;
  /// Throws comm_thread::InputError where several right-hand sides cannot be solved for so.
  void check_columns() const;

  const library::SolveSettings& settings() const { return *this; }

 private:
  bool needs_matrix() const;
};

void add_solve_options(CLI::App& command, SolveOptions& options);

}  // namespace weft::tools
