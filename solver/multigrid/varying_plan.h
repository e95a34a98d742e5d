#pragma once

#include <array>

#include "comm_thread/engine/crew.h"
#include "solver/multigrid/couplings/coupling_view.h"
#include "solver/multigrid/cycle_options.h"
#include "solver/multigrid/level_plan.h"
#include "spmv/grid/grid_partition.h"

namespace weft::solver {

/// The grids of an operator whose couplings vary from point to point.
///
///     own couplings ─ halo ─┬─ single or double precision for the passes
///                           ├─ mean couplings: which directions are coarsened
///                           └─ coarser ones, a direction after the other ─ moved ─ next grid
///
/// A rank makes all that its passes read from its own couplings and a halo, which travels once a
/// grid. The mean couplings are those of their logarithms, as integers, so that nothing depends on
/// ranks or threads.
///
/// `own`: couplings of the rank's points. `has_boundary`: directions at whose ends x is given; in
/// one that is false there are none and the grid has one point. What a row beside a boundary adds
/// up to is its coupling with that; where there are several, in proportion to its other couplings.
/// `options`: steps of the smoother, and when grids are gathered. Collective. Thread: the main
/// thread, outside the team.
template <class Value>
GridPlan<Value> collective_plan_varying(const comm_thread::Crew& crew,
                                        const spmv::GridPartition& partition,
                                        const CouplingView& own,
                                        const std::array<bool, 3>& has_boundary,
                                        const CycleOptions& options);

/// `options` with the smoothing steps that varying couplings need where it has none: on all grids
/// but the finest.
CycleOptions with_varying_steps(CycleOptions options);

/// The same on the finest grid: more where couplings jump from point to point. `own`: couplings of
/// the rank's points. Collective. Thread: the main thread, outside the team.
CycleOptions collective_with_finest_steps(const comm_thread::Crew& crew, const CouplingView& own,
                                          CycleOptions options);

}  // namespace weft::solver
