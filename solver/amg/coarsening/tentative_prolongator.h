#pragma once

#include <span>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/aggregates.h"
#include "solver/amg/coarsening/coarse_columns.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/node_rows.h"
#include "spmv/rows/partition.h"

namespace weft::solver::amg {

/// T, whose columns are orthonormal, and what the near-null space becomes on the coarse level.
struct TentativeProlongator {
  CouplingRows<float> rows;  // of this rank
  std::vector<double> coarse_space;  // [own coarse rows][vector count]
};

/// Each aggregate has a coarse node with as many rows as there are vectors: B = Q·R of the vectors
/// on the aggregate's rows gives T = Q there, and the coarse vectors R, so that T times them is B.
/// Vectors that depend on others on an aggregate leave a row and a column of zeros.
///
///     2 rows a node, 3 vectors     aggregate of nodes 0 1 (rows 0 … 3)     columns 0 1 2 of T
///
/// The rank that has the aggregate computes Q and R whole, rows in ascending order, by Gram and
/// Schmidt's method, made twice: no bit depends on ranks and threads.
/// `space`: [own rows][vector_count]. Collective. Thread: the main thread, outside the team. Talks
/// to those concerned only.
TentativeProlongator collective_build_tentative(const comm_thread::Crew& crew,
                                                const LevelMatrix& level, const NodeRows& nodes,
                                                const Aggregates& aggregates,
                                                std::span<const double> space, int vector_count,
                                                CoarseColumns& columns);

/// The rows of the coarse level: `vector_count` for each aggregate.
spmv::RowPartition coarse_rows_of(const spmv::RowPartition& aggregates, int vector_count);

}  // namespace weft::solver::amg
