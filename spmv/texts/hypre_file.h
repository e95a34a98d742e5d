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

/// What HYPRE_IJMatrixPrint and HYPRE_IJVectorPrint write: a file for each rank of hypre,
/// NAME.00000, NAME.00001, ...
///
///     matrix   first row, last row, first column, last column; then "ROW COLUMN VALUE"
///     vector   first row, last row; then "ROW VALUE"
///
/// The first file stands for all of them. Rows count from where its rows begin, which is 0, or 1 in
/// files of hypre_ParCSRMatrixPrintIJ. Ranks read whole files, each about as many as the others.
/// All throw comm_thread::InputError, the same on every rank, also where a file is missing, or rows
/// are in none of them or in two.
/// Source: hypre 2.26, HYPRE_IJVector.c, par_csr_matrix.c.

struct HypreContents {
  bool is_matrix = false;
  GlobalIndex row_count = 0;
  std::int64_t entry_count = 0;
};
/// Goes through all lines once. Collective.
HypreContents collective_look_into_hypre(const comm_thread::Communicator& communicator,
                                         const std::string& path);

/// The rows of this rank. Collective. Memory: own rows and a few MB.
DistributedMatrix collective_read_hypre_matrix(const comm_thread::Communicator& communicator,
                                               const comm_thread::ComputeTeam& team,
                                               const std::string& path, PartitionBy partition,
                                               Remarks& remarks);

/// The entries of this rank's rows, each of which is given once. Collective.
std::vector<double> collective_read_hypre_vector(const comm_thread::Communicator& communicator,
                                                 const RowPartition& partition,
                                                 const std::string& path, Remarks& remarks);

}  // namespace weft::spmv
