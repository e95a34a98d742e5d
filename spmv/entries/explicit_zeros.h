#pragma once

#include <cstdint>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// How many entries off the diagonal are exactly zero, on all ranks. Collective. Thread: the main
/// thread, outside the team, here and below.
std::int64_t collective_count_zeros(const comm_thread::Communicator& communicator,
                                    const comm_thread::ComputeTeam& team,
                                    const DistributedMatrix& matrix);

/// Leaves out the entries off the diagonal that are exactly zero, in place. The halo stays, also
/// where no entry needs it any more. Collective.
void collective_drop_zeros(const comm_thread::Communicator& communicator,
                           const comm_thread::ComputeTeam& team, DistributedMatrix& matrix);

/// Takes the columns that no entry needs out of the halo.
void drop_unused_halo(DistributedMatrix& matrix);

/// The same rows in memory of their own, whose pages the threads of the team touch first.
CrsMatrix copy_rows(const comm_thread::ComputeTeam& team, const CrsMatrix& rows);

/// What is said about zeros that were left out of `entry_count` entries.
std::string text_of_zeros(std::int64_t zero_count, std::int64_t entry_count);

}  // namespace weft::spmv
