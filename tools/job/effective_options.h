#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "tools/job/job_report.h"

namespace weft::tools {

/// The command that was chosen, such as `study cg`; `program` itself before one is.
const CLI::App& chosen_command(const CLI::App& program);

/// Its name with those of the commands around it, below the program: "study cg".
std::string name_of(const CLI::App& command);

/// Options of `command` as they apply, given or by default, by their names without dashes. Options
/// that were not given and have no default are left out.
Json effective_options(const CLI::App& command);

/// True if the option `name`, with its dashes, was given another value than its default.
bool is_changed(const CLI::App& command, const std::string& name);

/// The options in effect as a file that --config reads: a section with a line for each of them.
std::string config_of(const CLI::App& command);

/// The option of `command` whose name is closest to `word`, with its dashes; empty where none is
/// close enough to be meant.
std::string closest_option(const CLI::App& command, const std::string& word);

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
