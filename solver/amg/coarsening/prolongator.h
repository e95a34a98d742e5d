#pragma once

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/aggregates.h"
#include "solver/amg/coarsening/chains.h"
#include "solver/amg/coarsening/coarse_columns.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/strong_rows.h"

namespace weft::solver::amg {

/// The smoothed prolongator P = (I − factor·D_F⁻¹·A_F)·T of this rank's rows, T with a 1 for each
/// row's aggregate, D_F the diagonal of A_F; then that of the rows in the halo of A, fetched from
/// their owners. Empty rows belong to no aggregate.
///
/// With `chains`, not null, their links have the rows of `Chains` instead, and their roots a 1.
///
/// Values are rounded to single precision, in which the cycle has them: any P is as good, and the
/// products that need it in irregular order read half as much.
/// Couplings of a row are in the order in which the row of A_F meets their aggregates.
/// Collective. Thread: the main thread, outside the team.
CouplingRows<float> collective_build_prolongator(const comm_thread::Crew& crew,
                                                 const LevelMatrix& level, const StrongRows& strong,
                                                 const Aggregates& aggregates, double factor,
                                                 CoarseColumns& columns,
                                                 const Chains* chains = nullptr);

/// The same from a given T, this rank's rows: P = (I − factor·D⁻¹·A)·T with all of A and its
/// diagonal D. Rows without a positive diagonal are those of T. Rows of T, and so of P, have all
/// `vector_count` columns of an aggregate, one after the other, or none.
/// Collective. Thread: the main thread, outside the team.
CouplingRows<float> collective_smooth_prolongator(const comm_thread::Crew& crew,
                                                  const LevelMatrix& level,
                                                  CouplingRows<float> tentative, double factor,
                                                  CoarseColumns& columns, int vector_count);

}  // namespace weft::solver::amg
