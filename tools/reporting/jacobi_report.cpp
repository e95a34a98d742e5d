#include "tools/reporting/jacobi_report.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "solver/report/iteration_report.h"
#include "solver/report/solve_report.h"
#include "tools/reporting/iteration_json.h"

namespace weft::tools {
namespace {

using solver::AsyncGuarantee;
using solver::IterationReport;

/// Additional results of asynchronous runs.
Json collective_asynchrony_report(const Job& job, const library::JacobiSettings& options,
                                  const IterationReport& report) {
  Json result = collective_asynchrony(job, report);
  result["detector"] = options.is_threaded ? "running sum" : comm_thread::name(options.detector);
  if (!options.is_threaded) result["in_flight"] = options.max_in_flight;
  return result;
}

}  // namespace

Json system_report(const library::JacobiSystem& system) {
  return {{"name", system.name()},
          {"rows", system.rows()},
          {"nonzeros", system.nonzeros()},
          {"right_hand_side", system.right_hand_side()}};
}

Json collective_run_report(const Job& job, const library::JacobiSystem& system,
                           const library::JacobiSettings& options, const library::JacobiRun& run) {
  const IterationReport& report = run.report;
  Json result;
  result["variant"] = library::name(options.variant);
  result["transport"] = options.transport_name();
  result["sweeps"] = run.sweep_method;
  result["decomposition"] = system.decomposition();
  result["status"] = solver::name(report.status);
  if (!report.explanation.empty()) result["explanation"] = report.explanation;
  result["iterations"] = collective_iterations(job, run.iterations);
  result["relative_residual"] = report.relative_residual;
  result["tolerance"] = options.tolerance;
  result["check_period"] = options.sweeps_per_check();
  result["halo_period"] = report.halo_period;
  result["halo_depth"] = options.halo_depth;
  result["seconds"] = job.world().max(report.seconds);
  const double updates = static_cast<double>(system.rows()) *
                         (job.is_root() ? result["iterations"]["mean"].get<double>() : 0.0);
  result["updates_per_second"] = updates / std::max(1e-9, result["seconds"].get<double>());
  result["times"] = collective_times(job, report);
  if (!options.is_sync()) result["asynchrony"] = collective_asynchrony_report(job, options, report);
  if (run.inner_iterations)
    result["inner"] = {
        {"iterations", collective_spread(job, static_cast<double>(*run.inner_iterations))},
        {"breakdowns", job.world().sum(run.inner_breakdowns)}};
  if (!options.is_grid()) {
    result["weight"] = system.parameters().weight;
    result["momentum"] = system.parameters().momentum;
  }
  if (const auto& spectrum = system.spectrum())
    result["spectrum"] = {{"estimate", spectrum->estimate},
                          {"lower", spectrum->lower},
                          {"upper", spectrum->upper},
                          {"async_convergence", name(spectrum->async_guarantee())}};
  if (!options.faults.empty()) result["faults"] = options.faults;
  result["history"] = history_of(report);
  result["local_history"] = collective_local_histories(job, report);
  return result;
}

void print_run(const Json& run) {
  fmt::print("sweeps       {}\n", run["sweeps"]);
  fmt::print("result       {} after {} iterations\n", run["status"],
             iteration_range(run["iterations"]));
  if (run.contains("explanation")) fmt::print("             {}\n", run["explanation"]);
  fmt::print("residual     {:.3e} true, tolerance {:g}\n", run["relative_residual"],
             run["tolerance"]);
  fmt::print("time         {:.3f} s, {:.3f} million updates per second\n", run["seconds"],
             1e-6 * number(run["updates_per_second"]));
  if (run.contains("spectrum"))
    fmt::print("spectrum     radius of |D^-1 (L+U)| about {:.5f}, between {:.5f} and {:.5f}\n",
               run["spectrum"]["estimate"], run["spectrum"]["lower"], run["spectrum"]["upper"]);
  if (run.contains("inner"))
    fmt::print("inner        {:.0f} iterations of conjugate gradients on average, {} breakdowns\n",
               run["inner"]["iterations"]["mean"], run["inner"]["breakdowns"]);
  if (run.contains("asynchrony")) print_asynchrony(run);
  print_times(run, "sweep");
}

std::string warning_about_convergence(const library::JacobiSystem& system,
                                      const library::JacobiSettings& options) {
  if (!system.spectrum() || options.is_sync()) return {};
  const solver::JacobiSpectrum& spectrum = *system.spectrum();
  if (spectrum.async_guarantee() == AsyncGuarantee::guaranteed) return {};
  return fmt::format(
      "warning: the spectral radius of |D^-1 (L+U)| is about {:.4f} ({:.4f} to {:.4f}); {}\n",
      spectrum.estimate, spectrum.lower, spectrum.upper,
      spectrum.async_guarantee() == AsyncGuarantee::not_guaranteed
          ? "at 1 and above asynchronous sweeps may never converge"
          : "whether it is below 1, so that asynchronous sweeps must converge, is not certain");
}

}  // namespace weft::tools
