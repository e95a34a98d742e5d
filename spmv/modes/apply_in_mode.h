#pragma once

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/mode.h"
#include "spmv/modes/multiplication.h"

namespace weft::spmv {

/// y = A·x in `mode`. Thread: every thread of the team, after it wrote its rows of x. Collective.
/// Throws comm_thread::MpiError.
void apply_in_mode(const comm_thread::TeamThread& thread, Mode mode, const Multiplication& product);

}  // namespace weft::spmv
