#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "tools/job/config_file.h"

namespace weft::tools {

/// The commands below `command`, joined by commas.
std::string names_of_commands(const CLI::App& command);

/// What is wrong with the arguments of `program` or the file of --config: "found X; expected Y".
std::string fault_of_arguments(const CLI::App& program, const ConfigFile& file,
                               const CLI::ParseError& error);

/// `text` with a question mark for each control character: a name may have a line end in it.
std::string one_line(std::string text);

}  // namespace weft::tools
