#pragma once

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/formats/csr_source.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition_by.h"

namespace weft::spmv {

/// The rows of this rank of a matrix in a file. Every thread reads the rows that it will work on,
/// straight into the finished matrix. Columns of a row may be in any order, and duplicates are
/// added up; where a row is not in ascending order, all of it is read again in two passes.
///
/// Collective. Throws comm_thread::InputError, the same on every rank, where the file is
/// inconsistent.
DistributedMatrix collective_read_csr(const comm_thread::Communicator& communicator,
                                      const comm_thread::ComputeTeam& team, const CsrSource& source,
                                      PartitionBy partition);

}  // namespace weft::spmv
