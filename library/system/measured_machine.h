#pragma once

#include <string>

#include "solver/simulation/machine.h"

namespace weft::library {

/// Takes the link of this machine, as the report of `weft progress` at `path` has measured it.
/// Throws comm_thread::InputError.
void take_progress(solver::Machine& machine, const std::string& path);

/// Takes the rate of points of this machine from the bandwidth of a node in the report of `weft
/// roofline` at `path`, shared by the ranks; 24 bytes a point. Throws comm_thread::InputError.
void take_roofline(solver::Machine& machine, const std::string& path);

}  // namespace weft::library
