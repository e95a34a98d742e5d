#pragma once

#include <string>
#include <vector>

#include "solver/sweep/disturbance.h"

namespace weft::tools {

// Option checks of commands with asynchronous ranks.

/// Error in the name of a channel transport; empty if valid.
std::string fault_of_channel_transport(const std::string& text);

/// Error in the name of a termination detector; empty if valid.
std::string fault_of_detector(const std::string& text);

/// Throws comm_thread::InputError with the valid forms.
std::vector<solver::Fault> parse_faults(const std::vector<std::string>& texts);

/// Throws comm_thread::InputError if a fault names an index that does not exist and would be
/// ignored silently. `who`: name of the `count` items.
void check_faults(const std::vector<solver::Fault>& faults, int count, const char* who);

}  // namespace weft::tools
