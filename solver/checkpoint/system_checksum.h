#pragma once

#include <cstdint>
#include <string_view>

#include "comm_thread/placement/compute_team.h"
#include "solver/checkpoint/checkpoint_file.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// Numbers from 1 to 2 that depend on the row alone. Shape: vector: [element_count]. Thread: every
/// thread of the team, each its rows.
void fill_with_probe(const comm_thread::TeamThread& thread, const spmv::LinearOperator& op,
                     double* vector);

/// A checksum of A by what it makes of a vector, whose bits are the same on any ranks and threads,
/// and in any format. Collective. Thread: the main thread, outside the team.
std::uint64_t collective_matrix_checksum(spmv::LinearOperator& op, spmv::Mode mode);

/// A checksum of what options say.
std::uint64_t text_checksum(std::string_view text);

/// With a name, which is cut where it is too long.
SolveIdentity identity_of(std::string_view recurrence, std::int64_t row_count);

}  // namespace weft::solver
