#pragma once

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/mode_model.h"
#include "spmv/modes/mode.h"
#include "spmv/modes/work.h"

namespace weft::spmv {

/// Exchanges the halo of the operand and does the work in `mode`.
/// Thread: every thread of the team, after it wrote its rows of the operand. Collective.
/// Throws comm_thread::MpiError.
void run_in_mode(const comm_thread::TeamThread& thread, Mode mode, const OverlappedWork& work);

/// Predicted time of one product in `mode`. Overlap mode is as slow as vector mode: MPI makes no
/// progress while the program multiplies.
double predicted_seconds(Mode mode, const perfmodel::ModeCosts& costs);

}  // namespace weft::spmv
