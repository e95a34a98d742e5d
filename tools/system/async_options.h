#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "library/settings/iteration_settings.h"
#include "solver/sweep/disturbance.h"
#include "tools/job/system_options.h"
#include "tools/system/checkpoint_options.h"

namespace weft::tools {

/// Options of the commands with synchronous and asynchronous variants.
struct AsyncOptions : SystemOptions {
  AsyncOptions(double default_tolerance, int default_in_flight)
      : tolerance(default_tolerance), max_in_flight(default_in_flight) {}

  std::string variant = "sync";
  std::string mode = "task";
  std::string transport = "two-sided";
  std::string detector = "residual";
  std::vector<std::string> faults;
  double tolerance;
  int max_in_flight;
  std::int64_t max_iterations = 1'000'000;
  CheckpointOptions checkpoints;

  bool is_sync() const { return variant == "sync"; }
  /// Threads of one rank instead of ranks?
  bool is_threaded() const { return transport == "openmp"; }
  /// Throws comm_thread::InputError.
  std::vector<solver::Fault> parsed_faults() const;
  /// What all sweeps have in common. Throws comm_thread::InputError.
  library::IterationSettings settings() const;
};

/// --mode, --transport, --in-flight, --detector, --inject, --max-iterations. `may_use_threads`:
/// takes --transport openmp.
void add_async_options(CLI::App& command, AsyncOptions& options, bool may_use_threads);

}  // namespace weft::tools
