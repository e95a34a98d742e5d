#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "solver/tiles/schwarz_problem.h"
#include "tools/job/system_options.h"

namespace weft::tools {

/// The options of `weft schwarz`.
struct SchwarzOptions : SystemOptions {
  int tiles_per_side = 0;
  int points_per_side = 0;
  int overlap = 1;
  std::string alpha = "auto";
  std::string right_hand_side = "ones";
  std::string variant = "sync";
  std::string mode = "task";
  std::string wait = "waitall";
  std::string local_solver = "auto";
  std::string coarse = "none";
  std::string transport = "two-sided";
  std::string detector = "residual";
  std::vector<std::string> faults;
  int max_in_flight = 8;
  double fixed_seconds = 0;
  double tolerance = 1e-7;
  std::int64_t max_iterations = 1'000'000;

  bool has_alpha() const { return alpha != "auto" && alpha != "search"; }
  bool has_coarse() const { return coarse != "none"; }
  bool is_sync() const { return variant == "sync"; }
  bool waits_in_turn() const { return wait == "wait"; }
  /// With an infinite alpha where it is still to be chosen. Throws comm_thread::InputError.
  solver::SchwarzProblem problem() const;
  /// Throws comm_thread::InputError where options do not go together.
  void check() const;
};

/// Everything but --alpha and the job's options.
void add_schwarz_options(CLI::App& command, SchwarzOptions& options);
/// --alpha.
void add_alpha_option(CLI::App& command, SchwarzOptions& options);

}  // namespace weft::tools
