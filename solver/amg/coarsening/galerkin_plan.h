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
/// is known.
///
/// Additions are those of collective_multiply_galerkin in the same order, and so are the bits.
/// Memory: 4 bytes for each product of an entry of A with one of P, 12 for each entry of A·P.
class GalerkinPlan {
 public:
  /// Of the present values, whose A·P is computed on the way. `prolongator`: of the rows of `level`
  /// and its halo; `columns` numbers its columns. Thread: the main thread, outside the team.
  GalerkinPlan(Crew& crew, const LevelMatrix& level, const CouplingRows<float>& prolongator,
               const CoarseColumns& columns);

  /// A·P of other values; the same P. Thread: as above.
  void take_new_values(Crew& crew, const LevelMatrix& level,
                       const CouplingRows<float>& prolongator);

  /// Gives `coarse`, which has the pattern of the product, its values. The same P, columns and R as
  /// of the first product. Collective. Thread: as above. Talks to those concerned only.
  void collective_multiply(Crew& crew, const LevelMatrix& level,
                           const CouplingRows<float>& prolongator, CoarseColumns& columns,
                           const Restriction& restriction, spmv::DistributedMatrix& coarse);

 private:
  /// Rows of a thread.
  struct Part {
    PageVector<spmv::LocalIndex> places;  // of each product in its row of A·P
    EntryRows<PackedCoupling> product;
  };

  std::vector<Part> parts_;
};

}  // namespace weft::solver::amg
