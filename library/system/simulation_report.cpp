#include "library/system/simulation_report.h"

#include <utility>

#include <fmt/format.h>

namespace weft::library {

Json machine_report(const solver::Machine& machine) {
  Json report = {{"name", machine.name},
                 {"source", machine.source},
                 {"topology", name(machine.topology)},
                 {"ranks_per_node", machine.ranks_per_node},
                 {"slow_rank", machine.slow_rank}};
  for (const solver::MachineNumber& number : solver::machine_numbers())
    report[number.name] = machine.*number.value;
  return report;
}

Json simulation_report(const solver::SweepRunOptions& options,
                       const solver::SweepSimulationResult& result, double wall_seconds) {
  Json slowest = Json::array();
  for (const solver::SimulatedRankSpeed& rank : result.slowest)
    slowest.push_back({{"rank", rank.rank}, {"sweeps", rank.sweeps}});
  return {
      {"variant", name(options.variant)},
      {"simulated_ranks", options.rank_count},
      {"seed", options.seed},
      {"status", result.has_converged ? "converged" : "not-converged"},
      {"seconds", result.seconds},
      {"iterations",
       {{"min", result.least_sweeps}, {"mean", result.mean_sweeps}, {"max", result.most_sweeps}}},
      {"relative_residual", result.relative_residual},
      {"verifications", result.verification_count},
      {"mean_staleness", result.mean_staleness},
      {"messages", result.message_count},
      {"skipped", result.skipped_count},
      {"waiting_fraction", result.waiting_fraction},
      {"slowest", std::move(slowest)},
      {"events", result.event_count},
      {"hash", fmt::format("{:016x}", result.hash)},
      {"wall_seconds", wall_seconds}};
}

Json krylov_simulation_report(const solver::KrylovSimulationOptions& options,
                              const solver::KrylovSimulationResult& result, double wall_seconds) {
  return {{"method", name(options.method)},
          {"mode", name(options.mode)},
          {"simulated_ranks", options.rank_count},
          {"points", options.points},
          {"seed", options.seed},
          {"status", result.has_converged ? "converged" : "not-converged"},
          {"seconds", result.seconds},
          {"iterations", result.iteration_count},
          {"relative_residual", result.relative_residual},
          {"halo_wait_fraction", result.halo_wait_fraction},
          {"sum_wait_fraction", result.sum_wait_fraction},
          {"events", result.event_count},
          {"value_hash", fmt::format("{:016x}", result.value_hash)},
          {"wall_seconds", wall_seconds}};
}

}  // namespace weft::library
