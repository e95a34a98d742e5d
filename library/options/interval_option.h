#pragma once

#include <string>

#include "solver/eigen/energy_range.h"

namespace weft::library {

/// "A:B", two numbers of which B is the larger one. Thread: any. Throws comm_thread::InputError.
solver::EnergyRange parse_interval(const std::string& text);

}  // namespace weft::library
