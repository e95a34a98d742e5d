#pragma once

#include <optional>

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/work.h"

namespace weft::spmv {

/// When the primary thread progresses an exchange that it started: only while it waits for the
/// halo, or also in tests between pieces of the interior part.
enum class Progress { in_wait, in_tests };

/// Packs the halo of the work and starts its messages. Returns the exchange under way, on the
/// primary thread of a rank with neighbours; else none. Thread: every thread of the team; has a
/// barrier.
std::optional<comm_thread::Pending> pack_and_start(const comm_thread::TeamThread& thread,
                                                   const OverlappedWork& work, Starter starter);

/// Runs the interior part, waits for the halo, then runs the boundary part: the common end of
/// overlap and task mode. `halo`: of `pack_and_start`. Thread: every thread of the team. Throws
/// comm_thread::MpiError.
void run_around_halo(const comm_thread::TeamThread& thread, const OverlappedWork& work,
                     const std::optional<comm_thread::Pending>& halo, Progress progress);

}  // namespace weft::spmv
