#pragma once

#include <span>
#include <string>

#include "comm_thread/probe/overlap_result.h"

namespace weft::comm_thread {

/// Advice on the choice of a mode, in one sentence with its evidence in brackets.
///
/// Evidence is the largest size: the mean overlap of the two operations that halo exchanges are
/// made of, `isend_irecv` and `neighbour_exchange`.
std::string progress_verdict(std::span<const OverlapResult> results);

}  // namespace weft::comm_thread
