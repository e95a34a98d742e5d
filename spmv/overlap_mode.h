#pragma once

#include "comm_thread/compute_team.h"
#include "spmv/multiplication.h"

namespace weft::spmv {

/// y = A·x with messages started before the interior rows and awaited after them. Whether anything
/// moves meanwhile is left to the MPI library.
/// Thread: every thread of the team, after it wrote its rows of x. Collective.
/// Throws comm_thread::MpiError.
/// Source: Hager, Schubert, Schoenemeyer, Wellein 2011, variant 2, without its second write of y.
void multiply_in_overlap_mode(const comm_thread::TeamThread& thread, const Multiplication& product);

}  // namespace weft::spmv
