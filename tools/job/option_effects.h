#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "tools/job/effective_options.h"

namespace weft::tools {

/// Options that do something only where `has_effect` says so. What depends on the number of ranks
/// alone is not entered: the same words are to run on any number.
template <class Options>
struct OptionEffect {
  std::vector<std::string> names;  // with their dashes
  std::function<bool(const Options& options)> has_effect;
  std::string found;  // what takes the effect away, such as "with --grid"
  std::string expected;
};

/// Throws comm_thread::InputError for an option of `command` that was given in vain: with another
/// value than its default, which a file written by --print-config has, too.
template <class Options>
void expect_effects(const CLI::App& command, const Options& options,
                    const std::vector<OptionEffect<Options>>& effects) {
  for (const OptionEffect<Options>& effect : effects) {
    if (effect.has_effect(options)) continue;
    for (const std::string& name : effect.names)
      if (is_changed(command, name))
        throw comm_thread::InputError(
            fmt::format("{}: found {}; expected {}", name, effect.found, effect.expected));
  }
}

}  // namespace weft::tools
