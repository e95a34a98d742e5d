#pragma once

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/multiplication.h"

namespace weft::spmv {

/// y = A·x without overlap: the halo is exchanged first, then all threads multiply all rows.
/// Thread: every thread of the team, after it wrote its rows of x. Collective.
/// Throws comm_thread::MpiError.
/// Source: Hager, Schubert, Schoenemeyer, Wellein 2011, variant 1.
void multiply_in_vector_mode(const comm_thread::TeamThread& thread, const Multiplication& product);

}  // namespace weft::spmv
