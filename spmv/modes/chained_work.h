#pragma once

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/work.h"

namespace weft::spmv {

/// A work and the next, which reads what this one writes.
struct ChainedWork {
  OverlappedWork first;  // its interior part lacks some rows that no other rank needs
  Starter first_starter;
  const Work& rest;  // these rows, as its interior part
  OverlappedWork second;
  Starter second_starter;
};

/// Does what other ranks need of the first work before the rest of it, so that either halo has work
/// beside it.
///
///     halo of the first travels ┆           halo of the second travels ┆
///     interior part ........... ┆ boundary │ rest │ interior part .... ┆ boundary
///
/// Thread: every thread of the team, after it wrote its rows of the first halo's vector.
/// Collective; other ranks may run the two one after the other. Throws comm_thread::MpiError.
void run_chained(const comm_thread::TeamThread& thread, const ChainedWork& work);

}  // namespace weft::spmv
