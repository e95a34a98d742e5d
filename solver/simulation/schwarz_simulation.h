#pragma once

#include "solver/simulation/sweep_simulation.h"

namespace weft::solver {

/// Optimized Schwarz on a simulated machine: q × q ranks with one tile each.
struct SchwarzSimulationOptions : SweepRunOptions {
  SchwarzSimulationOptions() {
    tolerance = 1e-7;  // of each tile
    contribution_period = 1;  // the residual is what a sweep solves for
    detector = comm_thread::DetectorKind::flags;
  }

  int tiles_per_side = 12;
  int points = 64;  // per side of a tile: what the clock and the messages are charged for
  int real_points = 16;  // per side of a tile: what is solved
  double alpha = 0;  // of the real tiles; 0: the best by theory
};

/// The alpha that is used. Throws comm_thread::InputError for options that are out of range.
double alpha_of(const SchwarzSimulationOptions& options);

/// Simulates synchronous or asynchronous optimized Schwarz, with the real program's TileSweeper;
/// every tile has to converge. Seconds are those of Machine::seconds_per_solve, for 64² points, and
/// grow with m²·log m. `rank_count` and `racy` have no meaning here.
///
/// Thread: one, outside of parallel regions. Not collective. Throws comm_thread::InputError for
/// options that are out of range. Source: Yamazaki et al. 2019, sections 4 and 7.
SweepSimulationResult simulate_schwarz(const SchwarzSimulationOptions& options);

}  // namespace weft::solver
