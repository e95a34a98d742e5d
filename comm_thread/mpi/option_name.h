#pragma once

#include <string>
#include <string_view>

namespace weft::comm_thread {

/// An option as the caller writes it, for messages: "method" in code, "--method" on the command
/// line.
std::string option_name(std::string_view name);
/// The same with a value: "method=gmres", "--method gmres".
std::string option_name(std::string_view name, std::string_view value);

/// Messages of this process name options as the command line has them from now on.
/// Thread: the main thread, before there are others.
void name_options_with_dashes();

}  // namespace weft::comm_thread
