#pragma once

#include <CLI/CLI.hpp>

#include "library/options/schwarz_settings.h"
#include "tools/job/system_options.h"
#include "tools/system/checkpoint_options.h"

namespace weft::tools {

/// The options of `weft schwarz`.
struct SchwarzOptions : SystemOptions, library::SchwarzSettings {
  using library::SchwarzSettings::problem;
  CheckpointOptions checkpoints;

  /// Throws comm_thread::InputError where the options of `command` contradict each other or have no
  /// effect.
  void check(const CLI::App& command) const;
};

/// Everything but --alpha and the job's options.
void add_schwarz_options(CLI::App& command, SchwarzOptions& options);
/// --alpha.
void add_alpha_option(CLI::App& command, SchwarzOptions& options);

}  // namespace weft::tools
