#pragma once

#include <cstddef>
#include <span>

#include "comm_thread/engine/crew.h"
#include "solver/levels/gathering.h"
#include "solver/multigrid/cycle_options.h"
#include "solver/multigrid/grids/grid_level.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/grid/stencil.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// What one exchange costs on the slowest rank. Measured with all neighbours of the finest grid by
/// the communication thread; the same on all ranks. Collective. Thread: the main thread, outside
/// the team.
Gathering collective_measure_exchanges(const comm_thread::Crew& crew,
                                       const spmv::GridPartition& partition);

/// Modelled seconds of a cycle on all grids but the finest if they are gathered below
/// `least_points`: for each, the work of the largest box with its rim, and two exchanges of
/// latency and bytes. `measured`: what an exchange costs; `value_bytes`: of a value that travels.
double modelled_cycle_seconds(std::span<const GridLevel> grids,
                              const spmv::GridPartition& partition, const Gathering& measured,
                              int steps, int thread_count, spmv::GlobalIndex least_points,
                              std::size_t value_bytes = sizeof(float));

/// `measured` with the number of points that the model finds best among powers of two and all,
/// which puts every coarse grid on one rank. The same on all ranks; no value of a solution depends
/// on it.
Gathering choose_gathering(std::span<const GridLevel> grids, const spmv::GridPartition& partition,
                           const Gathering& measured, int steps, int thread_count,
                           std::size_t value_bytes = sizeof(float));

/// `options` with the least points of a rank that a model chooses from a measurement where they are
/// 0. `stencil`: of the operator, or of one with constant couplings on its grid. Collective.
/// Thread: the main thread, outside the team.
CycleOptions collective_with_gathering(const comm_thread::Crew& crew,
                                       const spmv::GridStencil& stencil,
                                       const spmv::GridPartition& partition, CycleOptions options);

}  // namespace weft::solver
