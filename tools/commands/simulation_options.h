#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"
#include "library/system/simulation_report.h"
#include "perfmodel/stopwatch.h"
#include "solver/simulation/machine.h"
#include "solver/simulation/sweep_run_options.h"
#include "solver/simulation/sweep_simulation.h"
#include "tools/job/effective_options.h"
#include "tools/job/job_report.h"
#include "tools/job/option_binding.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"

namespace weft::tools {

/// The options that describe a simulated machine: a preset, numbers of this machine from reports,
/// and single numbers on top of both.
struct MachineOptions {
  std::string machine = "hector";
  std::string progress_path{};  // JSON of weft progress
  std::string roofline_path{};  // JSON of weft roofline
  std::string topology{};
  int ranks_per_node = 0;
  /// Numbers that were given, in their order.
  std::vector<std::pair<double solver::Machine::*, double>> numbers{};
  std::string slow{};  // RANK:FACTOR
  std::string detours{};  // RATE:SECONDS

  /// Throws comm_thread::InputError.
  solver::Machine parsed() const;
};

/// What simulations of sweeps are asked for, besides the problem.
struct SimulateSweepsOptions : SystemOptions {
  MachineOptions machine{};
  std::vector<std::string> variants{"sync", "async", "racy"};
  std::string transport = "two-sided";
  std::string detector = "residual";
  int seed_count = 1;

  /// Writes to `run` what is named by words. Throws comm_thread::InputError.
  void complete(solver::SweepRunOptions& run) const;
  std::vector<solver::SimulatedVariant> parsed_variants() const;
  /// What options of messages that nobody waits for need: an asynchronous variant.
  library::Need need_of_channels() const;
};

/// What every simulation has.
void add_machine_options(CLI::App& command, MachineOptions& options);
/// --roofline, --point-rate: where points are swept or multiplied.
void add_point_options(CLI::App& command, MachineOptions& options);
/// --flop-rate, --dense-rate: where vectors are combined.
void add_flop_options(CLI::App& command, MachineOptions& options);
/// --solve-seconds: where tiles are solved.
void add_tile_options(CLI::App& command, MachineOptions& options);
/// --poll-interval: where ranks may be asynchronous.
void add_poll_interval(CLI::App& command, MachineOptions& options);

/// The options of a simulation of sweeps that begin alike in `weft jacobi` and `weft schwarz`.
/// `variants`, `tolerance`: what help says of these.
void add_sweep_options(CLI::App& command, SimulateSweepsOptions& options,
                       solver::SweepRunOptions& run, const std::string& variants,
                       const std::string& tolerance);

/// --transport, of the channels of asynchronous variants.
void add_transport(CLI::App& command, std::string& transport);
/// --seed, and --seeds for as many runs.
void add_seeds(CLI::App& command, std::uint64_t& seed, int& seed_count);

/// Throws comm_thread::InputError if there is more than one rank. Collective.
void collective_expect_one_rank(const Job& job, const std::string& command);

/// The lines of a summary about the machine of a simulation, and an empty one.
void print_machine(const Json& machine);

/// Writes the report of `weft simulate`, which `print` shows where its file is not standard output.
/// Collective.
void collective_finish_simulation(const Job& job, const ReportFile& report_file,
                                  const std::string& method, double seconds, Json simulation,
                                  void (*print)(const Json& report));

using library::machine_report;
using library::simulation_report;
/// Reports of `simulate(sweeps)` with all variants and seeds.
template <class Sweeps, class Simulate>
Json simulated_runs(const SimulateSweepsOptions& options, Sweeps sweeps, const Simulate& simulate) {
  Json runs = Json::array();
  const std::uint64_t first_seed = sweeps.seed;
  for (const solver::SimulatedVariant variant : options.parsed_variants())
    for (int seed = 0; seed < options.seed_count; ++seed) {
      sweeps.variant = variant;
      sweeps.seed = first_seed + static_cast<std::uint64_t>(seed);
      const perfmodel::Stopwatch watch;
      const solver::SweepSimulationResult result = simulate(sweeps);
      runs.push_back(simulation_report(sweeps, result, watch.seconds()));
    }
  return runs;
}

// The simulations, each of which adds itself to the command `simulate`.

/// `weft simulate schwarz`: optimized Schwarz with one tile a rank.
void add_simulate_schwarz(CLI::App& simulate, const comm_thread::MpiSession& session,
                          int& exit_code);
/// `weft simulate cg` and `weft simulate spmv`: methods whose ranks wait for each other, in every
/// mode.
void add_simulate_krylov(CLI::App& simulate, const comm_thread::MpiSession& session,
                         int& exit_code);
/// `weft simulate eigen`: a search for eigenvalues on more and more ranks.
void add_simulate_eigen(CLI::App& simulate, const comm_thread::MpiSession& session, int& exit_code);

}  // namespace weft::tools
