#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "solver/checkpoint/checkpoints.h"

namespace weft::tools {

/// Options of the commands that keep the state of a run in files.
struct CheckpointOptions {
  std::string path;  // empty: nothing is kept
  static constexpr const char* usual_interval = "300s";
  std::string every = usual_interval;
  std::string from;  // empty: the run begins anew

  bool is_used() const { return !path.empty() || !from.empty(); }
  /// Throws comm_thread::InputError for an interval that nothing uses.
  void check() const;
  /// Without functions. Throws comm_thread::InputError.
  solver::Checkpoints::Options settings() const;
};

/// --checkpoint and --checkpoint-every; `from` is set by --restart. `limits`: the options that end
/// a run.
void add_checkpoint_options(CLI::App& command, CheckpointOptions& options,
                            const std::string& limits);

/// The same with --restart FILE, for commands that sweep.
void add_sweep_checkpoint_options(CLI::App& command, CheckpointOptions& options);

}  // namespace weft::tools
