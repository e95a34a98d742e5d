#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "library/options/matrix_settings.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "tools/system/async_options.h"

namespace weft::tools {

/// Options of the commands that sweep: `weft jacobi` and `weft study`.
struct JacobiOptions : AsyncOptions, library::MatrixSettings {
  std::string grid;  // NXxNYxNZ; empty: `problem` names a matrix
  std::string right_hand_side;
  std::string inner;  // cg:TOLERANCE or schwarz[:...]
  std::string momentum = "0";
  double lift = 0;
  double weight = 1;
  int halo_depth = 1;
  bool has_single_sweeps = false;
  bool is_strict = false;

  /// What is swept, as given.
  std::string what() const { return is_grid() ? "--grid " + grid : problem; }
  bool is_grid() const { return !grid.empty(); }
  /// Sweeps between two checks, with the default put in.
  int sweeps_per_check() const;
  library::IterationSettings settings() const;
  /// True if `inner` selects Schwarz.
  bool has_schwarz() const;
  /// The subdomains in `inner`. Throws comm_thread::InputError.
  solver::SchwarzPreconditioner::Options parsed_schwarz() const;
  /// `jacobi`, `multisplitting` or `schwarz`.
  const char* method() const;
  /// The tolerance in `inner`. Throws comm_thread::InputError.
  double inner_tolerance() const;
  /// Throws comm_thread::InputError where the options of `command` contradict each other or have no
  /// effect.
  void check(const CLI::App& command) const;
};

/// PROBLEM | --grid and everything else but the job's options.
void add_jacobi_options(CLI::App& command, JacobiOptions& options);

}  // namespace weft::tools
