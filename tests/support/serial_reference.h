#pragma once

#include <map>
#include <span>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"

namespace weft::tests {

/// A whole matrix on one rank, row by row, columns ascending: what every kernel is compared with.
using ReferenceMatrix = std::vector<std::map<spmv::GlobalIndex, double>>;

/// y = A·x, each row summed in ascending order of column.
std::vector<double> multiply(const ReferenceMatrix& matrix, std::span<const double> x);

/// `problem`: a generated one.
ReferenceMatrix reference_matrix(const spmv::Problem& problem);

/// The rows of `reference` that this rank owns. Collective.
spmv::DistributedMatrix collective_distribute(const comm_thread::Communicator& communicator,
                                              const comm_thread::ComputeTeam& team,
                                              const ReferenceMatrix& reference,
                                              spmv::RowPartition partition);

}  // namespace weft::tests
