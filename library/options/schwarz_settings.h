#pragma once

#include <string>
#include <vector>

#include "library/options/iteration_settings.h"
#include "library/options/option.h"
#include "solver/tiles/schwarz_problem.h"

namespace weft::library {

/// What the options of `weft schwarz` ask for.
struct SchwarzSettings : IterationSettings {
  SchwarzSettings();

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
  /// Throws comm_thread::InputError where settings contradict each other.
  void check() const;
  /// What its options and those of the iteration need.
  std::vector<Need> needs() const;
};

/// Options of `weft schwarz` that other sweeps do not have, or have with other words.
const OptionTable<SchwarzSettings>& tile_options();

}  // namespace weft::library
