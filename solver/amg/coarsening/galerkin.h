#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "solver/amg/coarsening/coarse_columns.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/crew.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::solver::amg {

/// R = Pᵀ on this rank's coarse rows: couplings in ascending global fine row, columns fine rows of
/// this rank, then `plan`'s halo.
struct Restriction {
  CouplingRows<float> rows;
  std::vector<spmv::GlobalIndex> halo_rows;  // fine rows of other ranks, ascending
  spmv::HaloPlan plan;
};

/// What a product with other values of A needs, see collective_renew_galerkin: a third of A·P at
/// first, all of it from the first new values on.
struct GalerkinPlan {
  std::vector<EntryRows<spmv::LocalIndex>> columns;  // of own rows of A·P, by thread
  std::vector<PageVector<PackedCoupling>> product;  // by thread, in the place of `couplings` there
};

/// The product Pᵀ·A·P.
struct GalerkinProduct {
  spmv::DistributedMatrix matrix;
  Restriction restriction;
  GalerkinPlan plan{};  // where it is asked for
};

/// Computes Pᵀ·A·P. `prolongator`: of the rows of `level` and its halo; `columns` numbers its
/// columns, and those that other ranks' rows bring, unless the product is made elsewhere. Rows of P
/// have all `vector_count` columns of an aggregate, one after the other, or none.
///
/// A·P by rows; then each coarse row is computed whole by the rank that has its root, from rows of
/// P and A·P that other ranks send: contributions are added in ascending fine row, so the bits do
/// not depend on ranks and threads. Sums are found by a marker for each coarse column. Where
/// `coarse` puts rows on fewer ranks than have `roots`, they move when they are done: one rank that
/// computed all of them took as long as one rank alone. Collective. Thread: the main thread,
/// outside the team. Talks to those concerned only.
GalerkinProduct collective_multiply_galerkin(Crew& crew, const LevelMatrix& level,
                                             const CouplingRows<float>& prolongator,
                                             const spmv::RowPartition& roots,
                                             const spmv::RowPartition& coarse,
                                             CoarseColumns& columns, int vector_count = 1,
                                             bool makes_plan = false);

}  // namespace weft::solver::amg
