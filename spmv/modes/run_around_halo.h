#pragma once

#include <optional>

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/work.h"

namespace weft::spmv {

/// When the primary thread progresses an exchange that it started: only while it waits for the
/// halo, or also in tests between pieces of the interior part.
enum class Progress { in_wait, in_tests };

/// Runs the interior part, waits for the halo, then runs the boundary part: the common end of
/// overlap and task mode. `halo`: the exchange under way, on the primary thread of a rank with
/// neighbours; else none. Thread: every thread of the team. Throws comm_thread::MpiError.
void run_around_halo(const comm_thread::TeamThread& thread, const OverlappedWork& work,
                     const std::optional<comm_thread::Pending>& halo, Progress progress);

}  // namespace weft::spmv
