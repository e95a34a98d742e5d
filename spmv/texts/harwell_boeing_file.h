#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/files/remarks.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"
#include "spmv/rows/partition_by.h"

namespace weft::spmv {

/// Harwell-Boeing and Rutherford-Boeing files (harwell_boeing_header.h), plain or compressed: a
/// square matrix by columns, counted from 1, and in the former right-hand sides behind it.
///
/// Each rank reads the columns of its share, from where rank 0 has found them to begin, and sends
/// entries to the owners of their rows. All throw comm_thread::InputError, the same on every rank.

struct HarwellBoeingSize {
  GlobalIndex row_count = 0;
  std::int64_t nonzero_count = 0;  // with the other half of a symmetric matrix, at most
};
/// Collective.
HarwellBoeingSize collective_harwell_boeing_size(const comm_thread::Communicator& communicator,
                                                 const std::string& path);

/// The rows of this rank. Collective. Memory: own rows, 8 bytes for each own column and a few MB.
DistributedMatrix collective_read_harwell_boeing(const comm_thread::Communicator& communicator,
                                                 const comm_thread::ComputeTeam& team,
                                                 const std::string& path, PartitionBy partition,
                                                 Remarks& remarks);

/// The right-hand side that the file holds: the entries of this rank's rows. Collective.
std::vector<double> collective_read_harwell_boeing_vector(
    const comm_thread::Communicator& communicator, const RowPartition& partition,
    const std::string& path);

}  // namespace weft::spmv
