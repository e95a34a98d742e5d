#pragma once

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/formats/csr_source.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition_by.h"

namespace weft::spmv {

/// The rows of this rank of a matrix whose file is not ordered by rows: `source.layout` is columns
/// or entries. Each rank reads its share of the nonzeros and sends them to the owners of their
/// rows, a few MB at a time, twice; and once more for equal numbers of nonzeros per rank.
/// Duplicates are added up.
///
/// Collective. Throws comm_thread::InputError, the same on every rank, where the file is
/// inconsistent.
DistributedMatrix collective_read_entries(const comm_thread::Communicator& communicator,
                                          const comm_thread::ComputeTeam& team,
                                          const CsrSource& source, PartitionBy partition);

}  // namespace weft::spmv
