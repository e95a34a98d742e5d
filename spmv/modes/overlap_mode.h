#pragma once

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/multiplication.h"
#include "spmv/modes/split_product.h"

namespace weft::spmv {

/// y = A·x with messages started before the interior rows and awaited after them. Whether anything
/// moves meanwhile is left to the MPI library, or to the primary thread's tests.
/// Thread: every thread of the team, after it wrote its rows of x. Collective.
/// Throws comm_thread::MpiError.
/// Source: Hager, Schubert, Schoenemeyer, Wellein 2011, variant 2, without its second write of y;
/// with tests: Hoefler, Gottschling, Rehm, Lumsdaine 2006, section 3.4.
void multiply_in_overlap_mode(const comm_thread::TeamThread& thread, const Multiplication& product,
                              Progress progress);

}  // namespace weft::spmv
