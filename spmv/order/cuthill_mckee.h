#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "spmv/order/symmetric_pattern.h"

namespace weft::spmv {

/// The new number of each row in the reverse Cuthill–McKee order, which keeps neighbours close
/// together: breadth first from a row at the rim of each connected part, rows with few neighbours
/// first, numbered from the end. It depends on the graph alone.
/// Memory: 16 bytes per row, and one byte for each thread, of which eight are used at most.
/// Thread: the main thread, outside the team.
std::vector<std::int32_t> reverse_cuthill_mckee(const comm_thread::ComputeTeam& team,
                                                const SymmetricPattern& pattern);

}  // namespace weft::spmv
