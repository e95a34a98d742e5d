#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "solver/tiles/schwarz_problem.h"
#include "tools/system/async_options.h"

namespace weft::tools {

/// The options of `weft schwarz`.
struct SchwarzOptions : AsyncOptions {
  SchwarzOptions();

  int tiles_per_side = 0;
  int points_per_side = 0;
  int overlap = 1;
  std::string alpha = "auto";
  std::string right_hand_side = "ones";
  std::string local_solver = "auto";
  std::string coarse = "none";

  /// The whole grid, as a problem is named.
  std::string what() const;
  bool has_alpha() const { return alpha != "auto" && alpha != "search"; }
  bool has_coarse() const { return coarse != "none"; }
  /// With an infinite alpha where it is still to be chosen. Throws comm_thread::InputError.
  solver::SchwarzProblem problem() const;
  /// Throws comm_thread::InputError where the options of `command` contradict each other or have no
  /// effect.
  void check(const CLI::App& command) const;
};

/// Everything but --alpha and the job's options.
void add_schwarz_options(CLI::App& command, SchwarzOptions& options);
/// --alpha.
void add_alpha_option(CLI::App& command, SchwarzOptions& options);

}  // namespace weft::tools
