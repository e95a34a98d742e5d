#include "solver/simulation/jacobi_simulation.h"

#include <algorithm>
#include <cstdint>

#include <catch2/catch.hpp>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/mpi/input_error.h"
#include "spmv/modes/mode.h"

namespace weft::solver {
namespace {

JacobiSimulationOptions small_jacobi(SimulatedVariant variant) {
  JacobiSimulationOptions options;
  options.machine = machine_by_name("hector");
  options.rank_count = 24;
  options.variant = variant;
  options.tolerance = 1e-3;
  return options;
}

}  // namespace

TEST_CASE("all variants and detectors converge to the true residual, and replay from the seed") {
  using comm_thread::DetectorKind;
  for (const SimulatedVariant variant :
       {SimulatedVariant::sync, SimulatedVariant::async, SimulatedVariant::racy})
    for (const DetectorKind detector : {DetectorKind::flags, DetectorKind::residual,
                                        DetectorKind::all_reduce, DetectorKind::snapshot}) {
      JacobiSimulationOptions options = small_jacobi(variant);
      options.detector = detector;
      const JacobiSimulationResult result = simulate_jacobi(options);
      CHECK(result.has_converged);
      CHECK(result.relative_residual <= 1e-3);
      CHECK(result.seconds > 0);
      CHECK(simulate_jacobi(options).hash == result.hash);
      options.seed = 2;
      CHECK(simulate_jacobi(options).hash != result.hash);
    }
}

TEST_CASE("sweeps of the synchronous variant do not depend on times") {
  JacobiSimulationOptions options = small_jacobi(SimulatedVariant::sync);
  const JacobiSimulationResult task = simulate_jacobi(options);
  options.mode = spmv::Mode::vector;
  options.machine.latency = 1e-3;
  const JacobiSimulationResult slow = simulate_jacobi(options);
  CHECK(slow.most_sweeps == task.most_sweeps);
  CHECK(slow.seconds > task.seconds);
}

TEST_CASE("overlap mode hides only the way of the halo that is waited for, task mode all of it") {
  JacobiSimulationOptions options = small_jacobi(SimulatedVariant::sync);
  options.machine.latency = 5e-4;  // shorter than the interior of a sweep
  options.machine.jitter = 0;
  options.machine.core_spread = 0;
  options.mode = spmv::Mode::task;
  const JacobiSimulationResult task = simulate_jacobi(options);
  options.mode = spmv::Mode::overlap;
  const JacobiSimulationResult overlap = simulate_jacobi(options);
  options.mode = spmv::Mode::vector;
  const JacobiSimulationResult vector = simulate_jacobi(options);
  CHECK(overlap.most_sweeps == task.most_sweeps);
  CHECK(overlap.relative_residual == task.relative_residual);
  CHECK(task.seconds < overlap.seconds);
  // A rank with a small interior begins sooner, and then waits for the largest one beside it.
  CHECK(overlap.seconds >= vector.seconds);
  CHECK(overlap.waiting_fraction > task.waiting_fraction);
}

TEST_CASE("puts that the target completes by itself arrive sooner, announced ones later") {
  JacobiSimulationOptions options = small_jacobi(SimulatedVariant::async);
  options.machine.overhead = 3e-4;
  options.machine.latency = 1e-4;
  options.machine.ranks_per_node = 1;
  const auto staleness = [&options](const char* transport) {
    options.transport = comm_thread::transport_choice(transport);
    const JacobiSimulationResult result = simulate_jacobi(options);
    CHECK(result.has_converged);
    return result.mean_staleness;
  };
  const double two_sided = staleness("two-sided");
  CHECK(staleness("one-sided") < two_sided);
  CHECK(staleness("one-sided:flush") > two_sided);
  CHECK(staleness("one-sided:flush-local") == staleness("one-sided"));
  options.transport = comm_thread::transport_choice("shared");
  CHECK_THROWS_AS(simulate_jacobi(options), comm_thread::InputError);
}

TEST_CASE("the compact reduction gives the results of the real program's schedules") {
  JacobiSimulationOptions options = small_jacobi(SimulatedVariant::async);
  options.tolerance = 1e-2;
  options.machine.jitter = 0.3;
  options.machine.ranks_per_node = 4;
  const auto check_equal = [&options] {
    options.reduces_by_schedules = true;
    const JacobiSimulationResult by_schedules = simulate_jacobi(options);
    options.reduces_by_schedules = false;
    const JacobiSimulationResult compact = simulate_jacobi(options);
    CHECK(compact.hash == by_schedules.hash);
    CHECK(compact.seconds == by_schedules.seconds);
    CHECK(compact.has_converged == by_schedules.has_converged);
    CHECK(compact.relative_residual == by_schedules.relative_residual);
    CHECK(compact.verification_count == by_schedules.verification_count);
    CHECK(compact.message_count == by_schedules.message_count);
    CHECK(compact.waiting_fraction == by_schedules.waiting_fraction);
    CHECK(compact.event_count < by_schedules.event_count);
    return compact;
  };
  std::uint64_t most_verifications = 0;
  for (const int rank_count : {2, 3, 4, 24, 100})
    for (const double point_seconds : {2.5e-8, 4e-10}) {  // sweeps beside a rest: longer, shorter
      options.rank_count = rank_count;
      options.machine.seconds_per_point = point_seconds;
      ++options.seed;
      most_verifications = std::max(most_verifications, check_equal().verification_count);
    }
  CHECK(most_verifications > 1);  // epochs, too
  options.machine.slow_rank = 17;
  options.machine.slow_factor = 20;
  options.contribution_period = 1;
  check_equal();
  options.machine.poll_interval = 2e-4;
  options.max_sweeps = 30;
  options.variant = SimulatedVariant::racy;
  CHECK_FALSE(check_equal().has_converged);
}

TEST_CASE("one slow rank holds up everybody in sync, and itself in async") {
  JacobiSimulationOptions options = small_jacobi(SimulatedVariant::sync);
  const double sync = simulate_jacobi(options).seconds;
  options.machine.slow_rank = 5;
  options.machine.slow_factor = 4;
  const double slow_sync = simulate_jacobi(options).seconds;
  CHECK(slow_sync > 3.5 * sync);
  options.variant = SimulatedVariant::async;
  const JacobiSimulationResult async = simulate_jacobi(options);
  CHECK(async.has_converged);
  CHECK(async.slowest.front().rank == 5);
  CHECK(async.seconds < slow_sync);
}

TEST_CASE("a run that may not converge ends at the most sweeps, verified") {
  JacobiSimulationOptions options = small_jacobi(SimulatedVariant::async);
  options.max_sweeps = 50;
  options.tolerance = 1e-12;
  const JacobiSimulationResult result = simulate_jacobi(options);
  CHECK_FALSE(result.has_converged);
  CHECK(result.most_sweeps >= 50);
  CHECK(result.relative_residual > 1e-12);
}

TEST_CASE("the number of threads changes nothing") {
  using comm_thread::DetectorKind;
  JacobiSimulationOptions options = small_jacobi(SimulatedVariant::async);
  options.rank_count = 36;
  options.machine.ranks_per_node = 4;
  options.machine.jitter = 0.3;
  options.tolerance = 1e-2;
  options.points = 8;  // so that many sweeps begin within a latency
  options.contribution_period = 1;  // so that the run goes on after a verification
  options.fewest_ranks_a_thread = 1;
  for (const DetectorKind detector :
       {DetectorKind::flags, DetectorKind::residual, DetectorKind::snapshot})
    for (const char* const transport : {"two-sided", "one-sided", "shmem"}) {
      options.detector = detector;
      options.transport = comm_thread::transport_choice(transport);
      options.max_in_flight =
          options.transport.kind == comm_thread::TransportKind::two_sided ? 3 : 1;
      options.thread_count = 1;
      const JacobiSimulationResult one = simulate_jacobi(options);
      CHECK(one.has_converged);
      if (detector == DetectorKind::residual) CHECK(one.verification_count > 1);
      for (const int thread_count : {2, 5}) {
        options.thread_count = thread_count;
        const JacobiSimulationResult several = simulate_jacobi(options);
        CHECK(several.hash == one.hash);
        CHECK(several.event_count == one.event_count);
        CHECK(several.message_count == one.message_count);
        CHECK(several.skipped_count == one.skipped_count);
        CHECK(several.seconds == one.seconds);
        CHECK(several.mean_staleness == one.mean_staleness);
        CHECK(several.waiting_fraction == one.waiting_fraction);
      }
    }
}

TEST_CASE("one rank is a simulation, too") {
  JacobiSimulationOptions options = small_jacobi(SimulatedVariant::async);
  options.rank_count = 1;
  CHECK(simulate_jacobi(options).has_converged);
  options.variant = SimulatedVariant::sync;
  CHECK(simulate_jacobi(options).has_converged);
}

TEST_CASE("options out of range are refused") {
  JacobiSimulationOptions options = small_jacobi(SimulatedVariant::async);
  options.rank_count = 0;
  CHECK_THROWS_AS(simulate_jacobi(options), comm_thread::InputError);
  options = small_jacobi(SimulatedVariant::async);
  options.machine.slow_factor = 0.5;
  CHECK_THROWS_AS(simulate_jacobi(options), comm_thread::InputError);
  CHECK_THROWS_AS(machine_by_name("nowhere"), comm_thread::InputError);
}

}  // namespace weft::solver
