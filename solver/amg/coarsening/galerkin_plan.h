#pragma once

#include <vector>

#include "solver/amg/coarsening/coarse_columns.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/crew.h"
#include "solver/amg/coarsening/galerkin.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/page_allocator.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver::amg {

/// Pᵀ·A·P for other values of A with the same P and pattern: where each product of two entries goes
/// is known, and entries of P lie in the order in which they are needed.
///
/// Additions are those of collective_multiply_galerkin in the same order, and so are the bits.
/// Memory: 8 bytes for each product of an entry of A with one of P, 12 for each entry of A·P.
class GalerkinPlan {
 public:
  /// `prolongator`: of the rows of `level` and its halo; `columns` numbers its columns.
  /// Thread: the main thread, outside the team.
  GalerkinPlan(Crew& crew, const LevelMatrix& level, const CouplingRows<float>& prolongator,
               const CoarseColumns& columns);

  /// Gives `coarse`, which has the pattern of the product, its values. The same P, columns and R as
  /// of the first product. Collective. Thread: the main thread, outside the team. Talks to those
  /// concerned only.
  void collective_multiply(Crew& crew, const LevelMatrix& level,
                           const CouplingRows<float>& prolongator, CoarseColumns& columns,
                           const Restriction& restriction, spmv::DistributedMatrix& coarse);

 private:
  /// Rows of a thread.
  struct Part {
    PageVector<float> weights;  // of P, in the order of the products
    PageVector<spmv::LocalIndex> places;  // of each product in its row of A·P
    EntryRows<PackedCoupling> product;
  };

  void multiply_prolongator(Crew& crew, const LevelMatrix& level,
                            const CouplingRows<float>& prolongator);

  std::vector<Part> parts_;
};

}  // namespace weft::solver::amg
