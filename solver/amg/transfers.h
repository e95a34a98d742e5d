#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "perfmodel/page_vector.h"
#include "solver/amg/coarsening/coarse_columns.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/galerkin.h"
#include "solver/amg/coarsening/row_values.h"
#include "solver/amg/level.h"
#include "spmv/rows/partition.h"

namespace weft::solver::amg {

/// What a level leaves behind for the transfers to the next, whose scale is not known yet.
struct Transfer {
  CouplingRows<float> prolongator;
  CoarseColumns columns;
  Restriction restriction{};  // of the product, made after the others
  perfmodel::PageVector<double> scale;  // of the finer level's own rows
  /// D^(1/2) of the finer level's own rows and the halo of R.
  std::unique_ptr<RowValues<double>> inverse_scale{};
};

/// The coarse diagonal entries that rounding may leave of nothing, one for each own coarse row;
/// also makes `transfer.inverse_scale`. `fine_rows`: where the threads' rows of the finer level
/// begin. Collective. Thread: the main thread, outside the team.
std::vector<double> collective_bound_rounding(const comm_thread::Crew& crew,
                                              std::span<const spmv::LocalIndex> fine_rows,
                                              Transfer& transfer);

/// Makes the products with P and R between two levels, after `collective_bound_rounding`; returns a
/// bound of ‖P‖². `coarse_scale`: D^(-1/2) of own coarse rows. `partition`: of the coarse rows.
/// Collective. Thread: the main thread, outside the team.
template <class Value>
double collective_make_transfers(const comm_thread::Crew& crew, Transfer& transfer,
                                 Level<Value>& fine, Level<Value>& coarse,
                                 std::span<const double> coarse_scale,
                                 const spmv::RowPartition& partition);

extern template double collective_make_transfers(const comm_thread::Crew&, Transfer&, Level<float>&,
                                                 Level<float>&, std::span<const double>,
                                                 const spmv::RowPartition&);
extern template double collective_make_transfers(const comm_thread::Crew&, Transfer&,
                                                 Level<double>&, Level<double>&,
                                                 std::span<const double>,
                                                 const spmv::RowPartition&);

}  // namespace weft::solver::amg
