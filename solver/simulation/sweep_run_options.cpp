#include "solver/simulation/sweep_run_options.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {

void check(const JacobiSimulationOptions& options) {
  expect_between("points of a part", options.points, 1, 10'000);
  expect_between("real points of a part", options.real_points, 1, 64);
  check(static_cast<const SweepRunOptions&>(options));
}

void check(const SweepRunOptions& options) {
  check(options.machine);
  expect_between("simulated ranks", options.rank_count, 1, 1 << 20);
  expect_between("most messages in flight", options.max_in_flight, 1, 512);
  expect_between("halo period", options.halo_period, 1, 1'000'000);
  expect_between("contribution period", options.contribution_period, 1, 1'000'000);
  expect_between("most sweeps", options.max_sweeps, 1, 1'000'000'000);
  expect_between("slow rank", options.machine.slow_rank, -1, options.rank_count - 1);
  expect_between("threads of the simulation", options.thread_count, 1, 1024);
  expect_positive("tolerance", options.tolerance);
  if (options.transport.kind == comm_thread::TransportKind::shared)
    throw comm_thread::InputError(
        "transport: found 'shared'; expected two-sided, one-sided or shmem between simulated "
        "nodes");
}

SimulatedVariant simulated_variant(std::string_view text) {
  for (const SimulatedVariant variant :
       {SimulatedVariant::sync, SimulatedVariant::async, SimulatedVariant::racy})
    if (name(variant) == text) return variant;
  throw comm_thread::InputError(
      fmt::format("variant: found '{}'; expected sync, async or racy", text));
}

std::string name(SimulatedVariant variant) {
  constexpr std::array<const char*, 3> names{"sync", "async", "racy"};
  return names.at(static_cast<std::size_t>(variant));
}

}  // namespace weft::solver
