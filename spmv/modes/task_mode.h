#pragma once

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/work.h"

namespace weft::spmv {

/// Does the interior part while the communication thread exchanges the halo, then the boundary
/// part. Thread: every thread of the team, after it wrote its rows of x. Collective. Throws
/// comm_thread::MpiError. Source: Hager, Schubert, Schoenemeyer, Wellein 2011, variant 3, without
/// its second write of y.
void run_in_task_mode(const comm_thread::TeamThread& thread, const OverlappedWork& work);

}  // namespace weft::spmv
