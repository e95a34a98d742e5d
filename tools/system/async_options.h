#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "library/options/iteration_settings.h"
#include "tools/job/system_options.h"
#include "tools/system/checkpoint_options.h"

namespace weft::tools {

/// Options of the commands with synchronous and asynchronous variants.
struct AsyncOptions : SystemOptions, library::IterationSettings {
  CheckpointOptions checkpoints;
  bool is_threaded = false;  // threads of one rank instead of ranks

  /// The word of --transport.
  std::string transport_name() const {
    return is_threaded ? "openmp" : comm_thread::name(transport);
  }
  const library::IterationSettings& settings() const { return *this; }
};

}  // namespace weft::tools
