#include "solver/simulation/schwarz_simulation.h"

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

SchwarzSimulationOptions small_schwarz(SimulatedVariant variant) {
  SchwarzSimulationOptions options;
  options.machine = machine_by_name("cori-haswell");
  options.tiles_per_side = 4;
  options.real_points = 8;
  options.variant = variant;
  return options;
}

}  // namespace

TEST_CASE("every tile of simulated Schwarz converges, and runs replay from the seed") {
  using comm_thread::DetectorKind;
  for (const SimulatedVariant variant : {SimulatedVariant::sync, SimulatedVariant::async})
    for (const DetectorKind detector : {DetectorKind::flags, DetectorKind::residual,
                                        DetectorKind::all_reduce, DetectorKind::snapshot}) {
      SchwarzSimulationOptions options = small_schwarz(variant);
      options.detector = detector;
      const SweepSimulationResult result = simulate_schwarz(options);
      CHECK(result.has_converged);
      CHECK(result.relative_residual <= 1e-7);
      CHECK(simulate_schwarz(options).hash == result.hash);
      options.seed = 2;
      CHECK(simulate_schwarz(options).hash != result.hash);
    }
}

TEST_CASE("iterations of synchronous Schwarz do not depend on times") {
  SchwarzSimulationOptions options = small_schwarz(SimulatedVariant::sync);
  const SweepSimulationResult first = simulate_schwarz(options);
  options.machine.latency = 1e-3;
  options.points = 32;
  const SweepSimulationResult second = simulate_schwarz(options);
  CHECK(first.least_sweeps == first.most_sweeps);
  CHECK(first.most_sweeps == second.most_sweeps);
}

TEST_CASE("one slow rank holds up synchronous Schwarz more than asynchronous") {
  SchwarzSimulationOptions options = small_schwarz(SimulatedVariant::sync);
  options.machine.slow_rank = 5;
  options.machine.slow_factor = 4;
  const double sync = simulate_schwarz(options).seconds;
  options.variant = SimulatedVariant::async;
  const SweepSimulationResult async = simulate_schwarz(options);
  CHECK(async.has_converged);
  CHECK(async.slowest.front().rank == 5);
  CHECK(async.seconds < sync);
}

TEST_CASE("options of simulated Schwarz out of range are refused") {
  SchwarzSimulationOptions options = small_schwarz(SimulatedVariant::sync);
  options.tiles_per_side = 0;
  CHECK_THROWS_AS(simulate_schwarz(options), comm_thread::InputError);
  options = small_schwarz(SimulatedVariant::sync);
  options.alpha = -1;
  CHECK_THROWS_AS(simulate_schwarz(options), comm_thread::InputError);
}

}  // namespace weft::solver
