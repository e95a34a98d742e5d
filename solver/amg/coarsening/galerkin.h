#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "perfmodel/page_vector.h"
#include "solver/amg/coarsening/coarse_columns.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/foreign_rows.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/row_accumulator.h"
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

/// Rows that threads made.
struct MadeRows {
  std::vector<RowBlocks> blocks;  // by thread
  perfmodel::PageVector<FineRow> rows;  // in the blocks
};

/// What a product leaves for other values of A. They have the same columns, and find memory that
/// has been touched: new pages took half of the time of a product. Memory: of A·P, 12 bytes an
/// entry and 16 a row.
struct KeptProduct {
  MadeRows own;  // of A·P
  Foreign foreign;
};

/// The product Pᵀ·A·P.
struct GalerkinProduct {
  spmv::DistributedMatrix matrix;
  Restriction restriction;
  KeptProduct kept{};  // where it is asked for
};

/// Computes Pᵀ·A·P. `prolongator`: of the rows of `level` and its halo; `columns` numbers its
/// columns, and those that other ranks' rows bring, unless the product is made elsewhere and not
/// kept. Rows of P have all `vector_count` columns of an aggregate, one after the other, or none.
///
/// A·P by rows; then each coarse row is computed whole by the rank that has its root, from rows of
/// P and A·P that other ranks send: contributions are added in ascending fine row, so the bits do
/// not depend on ranks and threads. Sums are found by a marker for each coarse column. Where
/// `coarse` puts rows on fewer ranks than have `roots`, they move when they are done: one rank that
/// computed all of them took as long as one rank alone. Collective. Thread: the main thread,
/// outside the team. Talks to those concerned only.
GalerkinProduct collective_multiply_galerkin(
    const comm_thread::Crew& crew, const LevelMatrix& level, const CouplingRows<float>& prolongator,
    const spmv::RowPartition& roots, const spmv::RowPartition& coarse, CoarseColumns& columns,
    int vector_count = 1, bool keeps_product = false);

}  // namespace weft::solver::amg
