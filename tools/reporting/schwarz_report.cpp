#include "tools/reporting/schwarz_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "solver/report/iteration_report.h"
#include "solver/report/solve_report.h"
#include "tools/reporting/iteration_json.h"

namespace weft::tools {
namespace {

/// A number, or "inf", which JSON has no number for.
Json number_or_infinity(double value) {
  if (std::isinf(value)) return "inf";
  return value;
}

/// The parts of an iteration as Yamazaki et al. have them.
Json collective_parts(const Job& job, const library::SchwarzRun& run) {
  const solver::IterationTimes& times = run.report.times;
  Json result;
  result["solve"] = collective_spread(job, run.solve_seconds);
  result["update"] = collective_spread(job, times.sweep - run.solve_seconds);
  result["exchange"] = collective_spread(job, times.pack + times.wait);
  result["reduction"] = collective_spread(job, times.reduction);
  result["injected"] = collective_spread(job, times.injected);
  result["communication_thread_cpu"] = collective_spread(job, run.report.comm_thread_cpu_seconds);
  return result;
}

/// What was asked for and chosen.
Json settings_report(const library::SchwarzSettings& options, const library::SchwarzRun& run) {
  Json result;
  result["variant"] = library::name(options.variant);
  result["subdomains"] = run.problem.tiles_per_side;
  result["points"] = run.problem.points_per_side;
  result["overlap"] = run.problem.overlap;
  result["alpha"] = number_or_infinity(run.problem.alpha);
  result["alpha_choice"] = options.has_alpha() ? "given" : options.alpha;
  if (!run.alpha_trials.empty()) {
    Json trials = Json::array();
    for (const library::AlphaTrial& trial : run.alpha_trials)
      trials.push_back({trial.alpha, number_or_infinity(trial.iterations)});
    result["alpha_trials"] = std::move(trials);
  }
  result["local_solver"] = solver::name(run.local_solver);
  if (run.trial)
    result["local_solver_trial"] = {{"cholmod_seconds", run.trial->cholmod_seconds},
                                    {"tensor_seconds", run.trial->tensor_seconds}};
  result["coarse"] = options.coarse;
  return result;
}

}  // namespace

Json schwarz_system_report(const library::SchwarzSystem& system,
                           const library::SchwarzSettings& options) {
  return {{"name", system.name()},
          {"rows", system.rows()},
          {"nonzeros", system.nonzeros()},
          {"right_hand_side", options.right_hand_side}};
}

Json collective_schwarz_report(const Job& job, const library::SchwarzSystem& system,
                               const library::SchwarzSettings& options,
                               const library::SchwarzRun& run) {
  const solver::IterationReport& report = run.report;
  Json result = settings_report(options, run);
  if (run.coarse_unknowns > 0) {
    result["coarse_unknowns"] = run.coarse_unknowns;
    result["corrections"] = collective_spread(job, static_cast<double>(run.corrections));
  }
  result["decomposition"] = system.decomposition();
  result["subdomains_per_rank"] = collective_spread(job, static_cast<double>(run.tile_count));
  result["status"] = solver::name(report.status);
  if (!report.explanation.empty()) result["explanation"] = report.explanation;
  result["iterations"] = collective_iterations(job, {report.iterations});
  result["solves_per_subdomain"] =
      collective_spread(job, static_cast<double>(run.solve_count) /
                                 static_cast<double>(std::max<std::int64_t>(run.tile_count, 1)));
  result["relative_residual"] = report.relative_residual;
  result["worst_subdomain_residual"] = job.world().max(run.worst_tile_residual);
  result["tolerance"] = options.tolerance;
  result["seconds"] = job.world().max(report.seconds);
  result["times"] = collective_parts(job, run);
  if (options.is_sync()) {
    result["wait"] = options.wait == solver::HaloWait::each ? "wait" : "waitall";
  } else {
    result["transport"] = comm_thread::name(options.transport);
    result["asynchrony"] = collective_asynchrony(job, report);
    if (options.fixed_seconds > 0)
      result["asynchrony"].erase("detection");  // without a convergence test
    else
      result["asynchrony"]["detector"] = comm_thread::name(options.detector);
    result["asynchrony"]["in_flight"] = options.max_in_flight;
  }
  if (options.fixed_seconds > 0) result["fixed_seconds"] = options.fixed_seconds;
  if (!options.faults.empty()) result["faults"] = options.faults;
  result["history"] = history_of(report);
  result["local_history"] = collective_local_histories(job, report);
  return result;
}

void print_schwarz_run(const Json& run) {
  const auto text = [](const Json& value) { return value.get<std::string>(); };
  const std::string alpha =
      run["alpha"].is_string() ? text(run["alpha"]) : fmt::format("{:g}", run["alpha"]);
  const std::string choice = text(run["alpha_choice"]);
  fmt::print("method       {} x {} subdomains of {} x {} points, overlap {}, alpha {}{}\n",
             run["subdomains"], run["subdomains"], run["points"], run["points"], run["overlap"],
             alpha, choice == "given" ? "" : " (" + choice + ")");
  const Json& count = run["subdomains_per_rank"];
  const double least = count["min"].get<double>();
  const double most = count["max"].get<double>();
  fmt::print("solver       {}, {}{:g} subdomains per rank\n", run["local_solver"],
             least == most ? "" : fmt::format("{:g} to ", least), most);
  if (run.contains("local_solver_trial")) {
    const Json& trial = run["local_solver_trial"];
    fmt::print("             the quicker: {:.1f} us a solve by cholmod, {:.1f} by tensor\n",
               1e6 * number(trial["cholmod_seconds"]), 1e6 * number(trial["tensor_seconds"]));
  }
  if (run.contains("coarse_unknowns"))
    fmt::print("coarse       {}, {} unknowns, {:g} corrections per rank\n", run["coarse"],
               run["coarse_unknowns"], run["corrections"]["max"]);
  fmt::print("result       {} after {} iterations\n", run["status"],
             iteration_range(run["iterations"]));
  if (run.contains("asynchrony")) {
    const Json& solves = run["solves_per_subdomain"];
    fmt::print("solves       {:.1f} to {:.1f} a subdomain\n", solves["min"], solves["max"]);
  }
  if (run.contains("explanation")) fmt::print("             {}\n", run["explanation"]);
  fmt::print("residual     {:.3e} true, at most {:.3e} on a subdomain, tolerance {:g}\n",
             run["relative_residual"], run["worst_subdomain_residual"], run["tolerance"]);
  fmt::print("time         {:.3f} s\n", run["seconds"]);
  if (run.contains("asynchrony")) print_asynchrony(run);
  print_times(run, "iteration");
}

}  // namespace weft::tools
