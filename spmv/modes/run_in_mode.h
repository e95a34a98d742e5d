#pragma once

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/mode.h"
#include "spmv/modes/work.h"

namespace weft::spmv {

/// Exchanges the halo of the operand and does the work in `mode`.
/// Thread: every thread of the team, after it wrote its rows of the operand. Collective.
/// Throws comm_thread::MpiError.
void run_in_mode(const comm_thread::TeamThread& thread, Mode mode, const OverlappedWork& work);

}  // namespace weft::spmv
