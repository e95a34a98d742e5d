#pragma once

#include "library/solve/solve_description.h"
#include "solver/simulation/krylov_simulation.h"
#include "solver/simulation/machine.h"
#include "solver/simulation/sweep_run_options.h"
#include "solver/simulation/sweep_simulation.h"

namespace weft::library {

/// What reports say of simulated machines and runs, by the names of docs/reference/json.md.
/// `wall_seconds`: what the simulation took.
Json machine_report(const solver::Machine& machine);
Json simulation_report(const solver::SweepRunOptions& options,
                       const solver::SweepSimulationResult& result, double wall_seconds);
Json krylov_simulation_report(const solver::KrylovSimulationOptions& options,
                              const solver::KrylovSimulationResult& result, double wall_seconds);

}  // namespace weft::library
