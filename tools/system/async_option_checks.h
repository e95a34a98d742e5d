#pragma once

#include <string>
#include <vector>

#include "solver/sweep/disturbance.h"

namespace weft::tools {

// What commands whose ranks need not wait for each other ask of their options.

/// What is wrong with the name of a transport that channels ride on; empty: nothing.
std::string fault_of_channel_transport(const std::string& text);

/// What is wrong with the name of a detector of termination; empty: nothing.
std::string fault_of_detector(const std::string& text);

/// Throws comm_thread::InputError, which says what is known.
std::vector<solver::Fault> parse_faults(const std::vector<std::string>& texts);

/// Throws comm_thread::InputError where a fault names somebody who is not there, and would be
/// forgotten silently. `who`: what the `count` are called.
void check_faults(const std::vector<solver::Fault>& faults, int count, const char* who);

}  // namespace weft::tools
