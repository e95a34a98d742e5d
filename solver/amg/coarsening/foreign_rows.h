#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/coarse_columns.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::solver::amg {

/// A row of A·P.
using FineRow = std::span<const PackedCoupling>;

/// A fine row of another rank that has columns of this rank.
struct ForeignRow {
  spmv::GlobalIndex row = 0;
  int owner = 0;
};

/// All of them, and what this rank sent.
struct Foreign {
  std::vector<ForeignRow> rows;  // ascending
  CouplingRows<float> transposed;  // of P, in columns of this rank
  EntryRows<PackedCoupling> product;  // of A·P
  std::map<int, std::vector<spmv::LocalIndex>> sent;  // this rank's rows that others got
};

/// A row of A·P of this rank, which is valid until the next is asked for.
using ProductRow = std::function<FineRow(std::size_t row)>;

/// Sends rows of P and A·P to the owners of their columns. Columns of other ranks that come get a
/// number. A message names each column once, and entries by the places of these names: a look-up
/// for each entry made the set-up of a mesh on two ranks an eighth longer.
/// Collective. Thread: the main thread. Talks to those concerned only.
Foreign collective_exchange_rows(const comm_thread::Crew& crew, const LevelMatrix& level,
                                 const CouplingRows<float>& prolongator,
                                 const ProductRow& product_row, const spmv::RowPartition& coarse,
                                 CoarseColumns& columns);

/// Brings the values of the rows of A·P that `foreign` has, for other values of A. `product`: this
/// rank's rows, with the same entries as before. Collective. Thread: the main thread. Talks to
/// those concerned only.
void collective_renew_values(const comm_thread::Crew& crew,
                             const perfmodel::PageVector<FineRow>& product, Foreign& foreign);

/// How fine values reach the ranks that got rows.
spmv::HaloPlan plan_of(const Foreign& foreign);

}  // namespace weft::solver::amg
