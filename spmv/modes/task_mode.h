#pragma once

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/multiplication.h"

namespace weft::spmv {

/// y = A·x with the halo brought by the communication thread while the team multiplies the interior
/// rows; then the boundary rows.
/// Thread: every thread of the team, after it wrote its rows of x. Collective.
/// Throws comm_thread::MpiError.
/// Source: Hager, Schubert, Schoenemeyer, Wellein 2011, variant 3, without its second write of y.
void multiply_in_task_mode(const comm_thread::TeamThread& thread, const Multiplication& product);

}  // namespace weft::spmv
