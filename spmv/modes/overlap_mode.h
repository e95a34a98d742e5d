#pragma once

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/run_around_halo.h"
#include "spmv/modes/work.h"

namespace weft::spmv {

/// Starts the messages, does the interior part, waits for the messages, does the boundary part.
/// Whether anything moves during the interior part depends on the MPI library, or on the primary
/// thread's tests.
/// Thread: every thread of the team, after it wrote its rows of x. Collective.
/// Throws comm_thread::MpiError.
/// Source: Hager, Schubert, Schoenemeyer, Wellein 2011, variant 2, without its second write of y;
/// with tests: Hoefler, Gottschling, Rehm, Lumsdaine 2006, section 3.4.
void run_in_overlap_mode(const comm_thread::TeamThread& thread, const OverlappedWork& work,
                         Progress progress);

}  // namespace weft::spmv
