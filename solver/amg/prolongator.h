#pragma once

#include "solver/amg/aggregates.h"
#include "solver/amg/coarse_columns.h"
#include "solver/amg/coupling.h"
#include "solver/amg/crew.h"
#include "solver/amg/level_matrix.h"
#include "solver/amg/strong_rows.h"

namespace weft::solver::amg {

/// The smoothed prolongator P = (I − factor·D_F⁻¹·A_F)·T of this rank's rows, T with a 1 for each
/// row's aggregate, D_F the diagonal of A_F; then that of the rows in the halo of A, fetched from
/// their owners. Empty rows belong to no aggregate.
///
/// Values are rounded to single precision, in which the cycle has them: any P is as good, and the
/// products that need it in irregular order read half as much.
/// Couplings of a row are in the order in which the row of A_F meets their aggregates.
/// Collective. Thread: the main thread, outside the team.
CouplingRows<float> collective_build_prolongator(Crew& crew, const LevelMatrix& level,
                                                 const StrongRows& strong,
                                                 const Aggregates& aggregates, double factor,
                                                 CoarseColumns& columns);

}  // namespace weft::solver::amg
