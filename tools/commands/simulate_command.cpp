#include "tools/commands/simulate_command.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/mpi/input_error.h"
#include "perfmodel/stopwatch.h"
#include "solver/simulation/jacobi_advice.h"
#include "solver/simulation/jacobi_simulation.h"
#include "tools/commands/simulation_options.h"
#include "tools/job/effective_options.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/reporting/report_table.h"

namespace weft::tools {
namespace {

struct SimulateOptions : SimulateSweepsOptions {
  solver::JacobiSimulationOptions jacobi;
  std::string mode = "task";
  bool advises = false;

  std::vector<library::Need> needs() const {
    const bool has_sync = std::ranges::find(variants, "sync") != variants.end();
    return {{{"variants", "mode"}, !advises, "with --advise, which tries all", "one of them"},
            {{"mode"}, has_sync, "without sync in --variants", "both"},
            need_of_channels()};
  }
};

void print_simulate_summary(const Json& report) {
  const Json& simulation = report["simulation"];
  fmt::print("problem      diffusion, {}^3 points a rank, of which {}^3 are real\n",
             simulation["points"], simulation["real_points"]);
  print_machine(simulation["machine"]);
  print_table(
      {column("ranks", 8, "/simulated_ranks"), column("variant", 8, "/variant"),
       column("seed", 6, "/seed"), column("seconds", 12, "/seconds", "{:.4g}"),
       column("sweeps", 10, "/iterations/min"), column("mean", 11, "/iterations/mean", "{:.1f}"),
       column("max", 10, "/iterations/max"),
       ratio_column("ms per sweep", 14, "/seconds", "/iterations/mean", "{:.4g}", 1e3),
       column("staleness", 11, "/mean_staleness", "{:.2f}"),
       column("wall s", 9, "/wall_seconds", "{:.2f}")},
      simulation["runs"]);
}

/// Settings as options of weft jacobi.
std::string words(const Json& trial) {
  if (trial["variant"] == "sync") return fmt::format("--variant sync --mode {}", trial["mode"]);
  return fmt::format("--variant {} --transport {} --in-flight {} --halo-period {}",
                     trial["variant"], trial["transport"], trial["in_flight"],
                     trial["halo_period"]);
}

void print_advice(const Json& report) {
  const Json& advice = report["advice"];
  fmt::print("machine      {}\n             {}\n", advice["machine"]["name"],
             advice["machine"]["source"]);
  fmt::print("ranks        {}, {}^3 points each, of which {}^3 are real; {} seeds\n\n",
             advice["simulated_ranks"], advice["points"], advice["real_points"], advice["seeds"]);
  fmt::print("{:<72}{:>12}{:>9}\n", "settings", "seconds", "spread");
  for (const Json& trial : advice["trials"])
    if (trial["seconds"].is_null())
      fmt::print("{:<72}{:>21}\n", words(trial), "not converged");
    else
      fmt::print("{:<72}{:>12.4g}{:>8.1f}%\n", words(trial), trial["seconds"],
                 100 * number(trial["spread"]));
  fmt::print("\n{:>8}{:>12}{:>12}{:>14}\n", "ranks", "sync", "async", "async / sync");
  for (const Json& point : advice["scaling"])
    if (!point["sync_seconds"].is_null() && !point["async_seconds"].is_null())
      fmt::print("{:>8}{:>12.4g}{:>12.4g}{:>14.3f}\n", point["ranks"], point["sync_seconds"],
                 point["async_seconds"],
                 point["async_seconds"].get<double>() / point["sync_seconds"].get<double>());
  const int pays_from = advice["async_pays_from"].get<int>();
  fmt::print("\nadvice       {}\n", words(advice["best"]));
  fmt::print(
      "confidence   better than the best {} one with {} of {} seeds; its times spread by {}\n",
      advice["best"]["variant"] == "sync" ? "asynchronous" : "synchronous", advice["seeds_won"],
      advice["seeds"],
      advice["best"]["spread"].is_null()
          ? "nothing: it did not converge"
          : fmt::format("{:.1f}%", 100 * number(advice["best"]["spread"])));
  fmt::print("asynchronous {}\n",
             pays_from == 0 ? "does not pay up to this number of ranks"
                            : fmt::format("pays from {} ranks on, of those tried", pays_from));
}

Json trial_report(const solver::JacobiTrial& trial) {
  const solver::JacobiSimulationOptions& options = trial.options;
  return {{"variant", name(options.variant)},
          {"mode", name(options.mode)},
          {"transport", name(options.transport)},
          {"in_flight", options.max_in_flight},
          {"halo_period", options.halo_period},
          {"seconds", trial.mean()},
          {"spread", trial.spread()}};
}

Json advice_report(const solver::JacobiSimulationOptions& jacobi,
                   const solver::JacobiAdvice& advice, int seed_count) {
  Json trials = Json::array();
  for (const solver::JacobiTrial& trial : advice.trials) trials.push_back(trial_report(trial));
  Json scaling = Json::array();
  for (const solver::JacobiAdvice::Scaling& point : advice.scaling)
    scaling.push_back({{"ranks", point.rank_count},
                       {"sync_seconds", point.sync_seconds},
                       {"async_seconds", point.async_seconds}});
  return {{"machine", machine_report(jacobi.machine)},
          {"simulated_ranks", jacobi.rank_count},
          {"points", jacobi.points},
          {"real_points", jacobi.real_points},
          {"seeds", seed_count},
          {"trials", std::move(trials)},
          {"best", trial_report(advice.trials[advice.best])},
          {"seeds_won", advice.seeds_won},
          {"scaling", std::move(scaling)},
          {"async_pays_from", advice.async_pays_from}};
}

int advise(const Job& job, const solver::JacobiSimulationOptions& jacobi, int seed_count,
           const ReportFile& report_file) {
  const perfmodel::Stopwatch watch;
  const solver::JacobiAdvice advice = solver::advise_jacobi(jacobi, seed_count);
  Json report = collective_start_report(job, "simulate");
  report["method"] = "jacobi";
  report["seconds"] = {{"total", watch.seconds()}};
  report["advice"] = advice_report(jacobi, advice, seed_count);
  // Infinite times are null in JSON.
  if (report_file.collective_write(report)) print_advice(Json::parse(report.dump()));
  return 0;
}

int simulate_jacobi(const comm_thread::MpiSession& session, const SimulateOptions& options) {
  const perfmodel::Stopwatch watch;
  solver::JacobiSimulationOptions jacobi = options.jacobi;
  options.complete(jacobi);
  jacobi.mode = solver::simulated_mode(options.mode);
  Job job = collective_start_job(session, options);
  collective_expect_one_rank(job, "simulate");
  jacobi.thread_count = job.team().thread_count();
  const ReportFile report_file(job, options.json_path);
  if (options.advises) return advise(job, jacobi, options.seed_count, report_file);
  Json runs = simulated_runs(options, jacobi, solver::simulate_jacobi);
  collective_finish_simulation(job, report_file, "jacobi", watch.seconds(),
                               {{"machine", machine_report(jacobi.machine)},
                                {"points", jacobi.points},
                                {"real_points", jacobi.real_points},
                                {"mode", options.mode},
                                {"transport", options.transport},
                                {"detector", options.detector},
                                {"tolerance", jacobi.tolerance},
                                {"runs", std::move(runs)}},
                               print_simulate_summary);
  return 0;
}

void add_jacobi(CLI::App& simulate, const comm_thread::MpiSession& session, int& exit_code) {
  const auto options = std::make_shared<SimulateOptions>();
  solver::JacobiSimulationOptions& jacobi = options->jacobi;
  CLI::App& command = *simulate.add_subcommand("jacobi", "Jacobi sweeps of the diffusion problem");
  add_count(command, "--simulated-ranks", jacobi.rank_count, 1, 1 << 20,
            "ranks of the simulated run");
  add_count(command, "--points", jacobi.points, 1, 10'000,
            "points per direction of a rank's part: what time is charged for");
  add_count(command, "--real-points", jacobi.real_points, 1, 64,
            "points per direction that are really swept for it");
  add_sweep_options(command, *options, jacobi, "as --variant of weft jacobi",
                    "relative residual to reach");
  add_choice(command, "--mode", options->mode, {"vector", "overlap", "task"},
             "of sync, as in weft jacobi");
  add_count(command, "--halo-period", jacobi.halo_period, 1, 1'000'000,
            "sweeps between two messages");
  add_count(command, "--check-period", jacobi.contribution_period, 1, 1'000'000,
            "sweeps between two residuals");
  command.add_flag("--advise", options->advises,
                   "try settings with all seeds and say which to use, and from how many ranks on "
                   "asynchronous pays");
  add_point_options(command, options->machine);
  show_in_help(command, library::OptionGroup::problem, {"--simulated-ranks", "--points"});
  show_in_help(command, library::OptionGroup::method,
               {"--variants", "--detector", "--tolerance", "--max-iterations", "--advise"});
  show_in_help(command, library::OptionGroup::run, {"--machine", "--mode", "--transport"});
  command.footer(
      "Examples:\n"
      "  weft simulate jacobi --simulated-ranks 512\n"
      "  weft simulate jacobi --simulated-ranks 4096 --slow 7:2 --variants sync,async\n"
      "  weft simulate jacobi --simulated-ranks 512 --variants async --transport one-sided:flush\n"
      "  weft simulate jacobi --simulated-ranks 512 --advise --seeds 3\n"
      "  weft simulate jacobi --machine gigabit --progress progress.json --json -");
  command.callback([options, &command, &session, &exit_code] {
    check_needs(command, options->needs());
    exit_code = simulate_jacobi(session, *options);
  });
}

}  // namespace

void add_simulate_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "simulate", "what a method would do on a machine of many ranks, in one process");
  command.require_subcommand(1);
  add_jacobi(command, session, exit_code);
  add_simulate_schwarz(command, session, exit_code);
  add_simulate_krylov(command, session, exit_code);
  add_simulate_eigen(command, session, exit_code);
}

}  // namespace weft::tools
