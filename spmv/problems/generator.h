#pragma once

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition_by.h"
#include "spmv/rows/row_visitor.h"

namespace weft::spmv {

/// Visits the rows [begin, end) of a generated problem in ascending order; nothing is stored.
/// `problem`: not a file. Thread: any number at the same time.
void visit_rows(const Problem& problem, GlobalIndex begin, GlobalIndex end,
                const RowVisitor& visit);

/// This rank's rows of a generated problem, made by all threads of `team`; no entry depends on
/// ranks or threads.
/// `problem`: not a file. Collective. Throws comm_thread::InputError, on every rank, when a rank
/// would get more rows than 32 bits can number.
DistributedMatrix collective_generate(const comm_thread::Communicator& communicator,
                                      const comm_thread::ComputeTeam& team, const Problem& problem,
                                      PartitionBy partition_by);

}  // namespace weft::spmv
