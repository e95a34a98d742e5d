#pragma once

#include "library/system/linear_system.h"

namespace weft::library {

/// Refuses a system without a matrix, one that is not symmetric, with the first two entries that
/// differ, and one whose norm is no double or has no reciprocal. Collective. Thread: the main
/// thread, outside the team. Throws comm_thread::InputError.
void collective_expect_symmetry(LinearSystem& system);

}  // namespace weft::library
