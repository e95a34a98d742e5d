#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "solver/checkpoint/checkpoints.h"

namespace weft::tools {

/// Options of the commands that keep the state of a run in files.
struct CheckpointOptions {
  std::string path;  // empty: nothing is kept
  std::string every = "300s";
  std::string from;  // empty: the run begins anew

  bool is_used() const { return !path.empty() || !from.empty(); }
  /// Throws comm_thread::InputError where an option of `command` has no effect.
  void check(const CLI::App& command) const;
  /// Without functions. Throws comm_thread::InputError.
  solver::Checkpoints::Options settings() const;
};

/// --checkpoint, --checkpoint-every and --restart-from. `limits`: the options that end a run;
/// `how`: in which way it continues.
void add_checkpoint_options(CLI::App& command, CheckpointOptions& options,
                            const std::string& limits, const std::string& how);

/// The same for commands that sweep.
void add_sweep_checkpoint_options(CLI::App& command, CheckpointOptions& options);

}  // namespace weft::tools
