#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "library/options/option.h"
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

/// Throws comm_thread::InputError for an option of `command` that lacks what it needs, and was
/// given another value than its default, which a file written by --print-config has, too.
void check_needs(const CLI::App& command, const std::vector<library::Need>& needs);

}  // namespace weft::tools
