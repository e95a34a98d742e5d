#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "library/options/jacobi_settings.h"
#include "tools/job/system_options.h"
#include "tools/system/checkpoint_options.h"

namespace weft::tools {

/// Options of the commands that sweep: `weft jacobi` and `weft study`.
struct JacobiOptions : SystemOptions, library::JacobiSettings {
  CheckpointOptions checkpoints;

  /// What is swept, as given.
  std::string what() const { return is_grid() ? "--grid " + grid : problem; }
  /// Throws comm_thread::InputError where the options of `command` contradict each other or have no
  /// effect.
  void check(const CLI::App& command) const;
};

/// PROBLEM | --grid and everything else but the job's options.
void add_jacobi_options(CLI::App& command, JacobiOptions& options);

}  // namespace weft::tools
