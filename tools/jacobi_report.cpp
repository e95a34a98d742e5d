#include "tools/jacobi_report.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "solver/iteration_report.h"
#include "solver/solve_report.h"

namespace weft::tools {
namespace {

using solver::AsyncGuarantee;
using solver::Histogram;
using solver::IterationReport;

Json to_json(const Histogram& histogram) {
  Json pairs = Json::array();
  for (const auto& [value, count] : histogram) pairs.push_back({value, count});
  return pairs;
}

/// The histograms of all ranks together. Collective; complete on rank 0.
Json collective_merge(const Job& job, const Histogram& own) {
  Histogram all;
  for (const std::string& text : job.world().gather(to_json(own).dump()))
    for (const Json& pair : Json::parse(text))
      all[pair[0].get<std::int64_t>()] += pair[1].get<std::uint64_t>();
  return to_json(all);
}

/// Smallest, mean and largest number of sweeps, and those of everybody.
Json collective_iterations(const Job& job, const std::vector<std::int64_t>& own) {
  std::vector<std::int64_t> all;
  for (const std::string& text : job.world().gather(Json(own).dump()))
    for (const Json& count : Json::parse(text)) all.push_back(count.get<std::int64_t>());
  if (all.empty()) return nullptr;
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  const double sum = std::accumulate(all.begin(), all.end(), 0.0);
  return {{"min", *least},
          {"mean", sum / static_cast<double>(all.size())},
          {"max", *most},
          {"of_each", all}};
}

Json collective_times(const Job& job, const IterationReport& report) {
  const solver::IterationTimes& times = report.times;
  Json result;
  result["sweep"] = collective_spread(job, times.sweep);
  result["pack"] = collective_spread(job, times.pack);
  result["wait"] = collective_spread(job, times.wait);
  result["reduction"] = collective_spread(job, times.reduction);
  result["injected"] = collective_spread(job, times.injected);
  result["communication_thread_cpu"] = collective_spread(job, report.comm_thread_cpu_seconds);
  return result;
}

Json to_json(const comm_thread::DetectionReport& detection) {
  return {{"fired", detection.fired_count},
          {"failed_verifications", detection.failed_verification_count},
          {"true_seconds", detection.true_seconds},
          {"fired_seconds", detection.fired_seconds},
          {"terminated_seconds", detection.terminated_seconds},
          {"delay_seconds", detection.delay_seconds},
          {"wasted_sweeps",
           {{"min", detection.fewest_wasted_sweeps},
            {"mean", detection.mean_wasted_sweeps},
            {"max", detection.most_wasted_sweeps}}}};
}

Json history_of(const IterationReport& report) {
  Json points = Json::array();
  for (const solver::HistoryPoint& point : report.history)
    points.push_back({point.seconds, point.residual});
  return points;
}

Json collective_asynchrony(const Job& job, const JacobiOptions& options,
                           const IterationReport& report) {
  const auto sum = [&](std::uint64_t own) {
    return job.world().sum(static_cast<std::int64_t>(own));
  };
  Json result = {{"staleness", collective_merge(job, report.staleness)},
                 {"batches", collective_merge(job, report.batches)},
                 {"sent", sum(report.sent_count)},
                 {"received", sum(report.received_count)},
                 {"skipped", sum(report.skipped_count)}};
  result["detector"] = options.is_threaded() ? "running sum" : options.detector;
  if (!options.is_threaded()) result["in_flight"] = options.max_in_flight;
  if (report.detection) result["detection"] = to_json(*report.detection);
  return result;
}

/// Mean value of a histogram as it stands in a report.
double mean_of(const Json& histogram) {
  double sum = 0;
  double count = 0;
  for (const Json& pair : histogram) {
    sum += pair[0].get<double>() * pair[1].get<double>();
    count += pair[1].get<double>();
  }
  return count > 0 ? sum / count : 0;
}

void print_asynchrony(const Json& run) {
  const Json& asynchrony = run["asynchrony"];
  const auto number = [](const Json& value) { return value.get<std::int64_t>(); };
  fmt::print("messages     {} sent, {} received, {} left out because the channel was full\n",
             number(asynchrony["sent"]), number(asynchrony["received"]),
             number(asynchrony["skipped"]));
  const Json& staleness = asynchrony["staleness"];
  if (!staleness.empty())
    fmt::print("staleness    {:.1f} sweeps on average, {} to {}; {:.1f} messages at a time\n",
               mean_of(staleness), number(staleness.front()[0]), number(staleness.back()[0]),
               mean_of(asynchrony["batches"]));
  if (!asynchrony.contains("detection")) return;
  const Json& detection = asynchrony["detection"];
  fmt::print(
      "detection    by {}: fired {} time{}, {} verification{} failed, delay {:.3f} s, {:.0f} "
      "sweeps wasted\n",
      asynchrony["detector"].get<std::string>(), number(detection["fired"]),
      number(detection["fired"]) == 1 ? "" : "s", number(detection["failed_verifications"]),
      number(detection["failed_verifications"]) == 1 ? "" : "s",
      detection["delay_seconds"].get<double>(), detection["wasted_sweeps"]["mean"].get<double>());
}

void print_times(const Json& run) {
  const double sweeps = std::max(1.0, run["iterations"]["mean"].get<double>());
  fmt::print("\n{:<28}{:>10}{:>10}{:>10}{:>16}\n", "seconds per rank", "min", "mean", "max",
             "us per sweep");
  for (const auto& [part, spread] : run["times"].items()) {
    std::string label = part;
    std::replace(label.begin(), label.end(), '_', ' ');
    fmt::print("  {:<26}{:>10.3f}{:>10.3f}{:>10.3f}{:>16.2f}\n", label, spread["min"].get<double>(),
               spread["mean"].get<double>(), spread["max"].get<double>(),
               1e6 * spread["mean"].get<double>() / sweeps);
  }
}

}  // namespace

Json system_report(const JacobiSystem& system) {
  return {{"name", system.name()},
          {"rows", system.rows()},
          {"nonzeros", system.nonzeros()},
          {"right_hand_side", system.right_hand_side()}};
}

Json collective_run_report(const Job& job, const JacobiSystem& system, const JacobiOptions& options,
                           const JacobiRun& run) {
  const IterationReport& report = run.report;
  Json result;
  result["variant"] = options.variant;
  result["transport"] = options.transport;
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
  if (options.parsed_variant() != JacobiVariant::sync)
    result["asynchrony"] = collective_asynchrony(job, options, report);
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
  return result;
}

void print_run(const Json& run) {
  const auto text = [](const Json& value) { return value.get<std::string>(); };
  const Json& iterations = run["iterations"];
  const auto least = iterations["min"].get<std::int64_t>();
  const auto most = iterations["max"].get<std::int64_t>();
  fmt::print("sweeps       {}\n", text(run["sweeps"]));
  fmt::print("result       {} after {} iterations\n", text(run["status"]),
             least == most ? fmt::format("{}", most)
                           : fmt::format("{} to {}, {:.1f} on average,", least, most,
                                         iterations["mean"].get<double>()));
  if (run.contains("explanation")) fmt::print("             {}\n", text(run["explanation"]));
  fmt::print("residual     {:.3e} true, tolerance {:g}\n", run["relative_residual"].get<double>(),
             run["tolerance"].get<double>());
  fmt::print("time         {:.3f} s, {:.3f} million updates per second\n",
             run["seconds"].get<double>(), 1e-6 * run["updates_per_second"].get<double>());
  if (run.contains("spectrum"))
    fmt::print("spectrum     radius of |D^-1 (L+U)| about {:.5f}, between {:.5f} and {:.5f}\n",
               run["spectrum"]["estimate"].get<double>(), run["spectrum"]["lower"].get<double>(),
               run["spectrum"]["upper"].get<double>());
  if (run.contains("inner"))
    fmt::print("inner        {:.0f} iterations of conjugate gradients on average, {} breakdowns\n",
               run["inner"]["iterations"]["mean"].get<double>(),
               run["inner"]["breakdowns"].get<std::int64_t>());
  if (run.contains("asynchrony")) print_asynchrony(run);
  print_times(run);
}

std::string warning_about_convergence(const JacobiSystem& system, const JacobiOptions& options) {
  if (!system.spectrum() || options.parsed_variant() == JacobiVariant::sync) return {};
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
