#pragma once

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/coarse_columns.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/galerkin.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver::amg {

/// Gives `coarse` = Pᵀ·A·P the values that belong to other ones of A: the same P, `columns` and
/// `restriction`. `kept`: of the first product.
///
/// Sums of a row are in an array with an element for each coarse column, as no column has to be
/// found; those of `vector_count` vectors, of 2, 3 or 6, are added up at once. Additions are
/// those of collective_multiply_galerkin in the same order, and so are the bits. Collective.
/// Thread: the main thread, outside the team. Talks to those concerned only.
void collective_renew_galerkin(const comm_thread::Crew& crew, const LevelMatrix& level,
                               const CouplingRows<float>& prolongator, CoarseColumns& columns,
                               const Restriction& restriction, KeptProduct& kept, int vector_count,
                               spmv::DistributedMatrix& coarse);

}  // namespace weft::solver::amg
