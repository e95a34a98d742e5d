#pragma once

#include <optional>

#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/multiplication.h"

namespace weft::spmv {

/// Where the primary thread looks after an exchange that it started: only where it waits for it, or
/// in tests between pieces of the interior rows as well.
enum class Progress { in_wait, in_tests };

/// The interior rows, then the halo is awaited, then the boundary rows: what overlap and task mode
/// have in common.
/// `halo`: the exchange under way, on the primary thread of a rank with neighbours; else none.
/// Thread: every thread of the team. Throws comm_thread::MpiError.
void multiply_while_halo_travels(const comm_thread::TeamThread& thread,
                                 const Multiplication& product,
                                 const std::optional<comm_thread::Pending>& halo,
                                 Progress progress);

}  // namespace weft::spmv
