#pragma once

#include <array>

#include "comm_thread/engine/crew.h"
#include "solver/multigrid/couplings/coupling_view.h"
#include "spmv/grid/grid_box.h"

namespace weft::solver {

/// Mean logarithms of the couplings in each direction, to the base of 2, plus a constant; 0 in a
/// direction without any. Couplings with the boundary do not count. The logarithms are added as
/// integers, so the bits do not depend on ranks or threads. `own`: points of this rank.
/// Collective. Thread: the main thread, outside the team.
std::array<double, 3> collective_mean_logarithms(const comm_thread::Crew& crew,
                                                 const CouplingView& couplings,
                                                 const spmv::GridBox& own);

/// Share of points whose couplings in two directions differ by a factor of 2.8 or more, apart from
/// how the means of those directions differ: 0 for constant coefficients, 1/6 for a checkerboard of
/// blocks of 7, 1/2 to 2/3 where coefficients jump from point to point.
/// As collective_mean_logarithms.
double collective_rough_share(const comm_thread::Crew& crew, const CouplingView& couplings,
                              const spmv::GridBox& own);

}  // namespace weft::solver
