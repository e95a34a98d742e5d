#pragma once

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/work.h"

namespace weft::spmv {

/// Does the work without overlap: the halo is exchanged first, then all threads run all of it.
/// Thread: every thread of the team, after it wrote its rows of x. Collective.
/// Throws comm_thread::MpiError.
/// Source: Hager, Schubert, Schoenemeyer, Wellein 2011, variant 1.
void run_in_vector_mode(const comm_thread::TeamThread& thread, const OverlappedWork& work);

}  // namespace weft::spmv
