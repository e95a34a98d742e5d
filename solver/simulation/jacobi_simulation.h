#pragma once

#include "solver/simulation/sweep_run_options.h"
#include "solver/simulation/sweep_simulation.h"

namespace weft::solver {

using JacobiSimulationResult = SweepSimulationResult;

/// Simulates Jacobi sweeps of the diffusion problem on cubes of points, one for each rank: real
/// values on small parts, swept by the kernel of GridSweeper.
///
/// Thread: one. Not collective. Throws comm_thread::InputError for options that are out of range.
/// Source: Bethune et al. 2012, section 3, for the problem and the variants.
JacobiSimulationResult simulate_jacobi(const JacobiSimulationOptions& options);

}  // namespace weft::solver
