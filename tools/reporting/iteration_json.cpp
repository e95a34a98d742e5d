#include "tools/reporting/iteration_json.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "tools/reporting/report_table.h"

namespace weft::tools {
namespace {

using solver::Histogram;
using solver::IterationReport;

constexpr int most_local_histories = 16;

Json to_json(const std::vector<solver::HistoryPoint>& history) {
  Json points = Json::array();
  for (const solver::HistoryPoint& point : history)
    points.push_back({point.seconds, point.residual});
  return points;
}

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

/// Mean value of a histogram in a report.
double mean_of(const Json& histogram) {
  double sum = 0;
  double count = 0;
  for (const Json& pair : histogram) {
    sum += pair[0].get<double>() * pair[1].get<double>();
    count += pair[1].get<double>();
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace

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

Json history_of(const IterationReport& report) { return to_json(report.history); }

Json collective_local_histories(const Job& job, const IterationReport& report) {
  const int step = (job.world().size() + most_local_histories - 1) / most_local_histories;
  const bool is_chosen = job.world().rank() % step == 0 && !report.own_history.empty();
  const std::string own =
      is_chosen
          ? Json({{"rank", job.world().rank()}, {"points", to_json(report.own_history)}}).dump()
          : "";
  Json all = Json::array();
  for (const std::string& text : job.world().gather(own))
    if (!text.empty()) all.push_back(Json::parse(text));
  return all;
}

Json collective_asynchrony(const Job& job, const IterationReport& report) {
  const auto sum = [&](std::uint64_t own) {
    return job.world().sum(static_cast<std::int64_t>(own));
  };
  Json result = {{"staleness", collective_merge(job, report.staleness)},
                 {"batches", collective_merge(job, report.batches)},
                 {"sent", sum(report.sent_count)},
                 {"received", sum(report.received_count)},
                 {"skipped", sum(report.skipped_count)}};
  if (report.detection) result["detection"] = to_json(*report.detection);
  return result;
}

std::string iteration_range(const Json& iterations) {
  const auto least = iterations["min"].get<std::int64_t>();
  const auto most = iterations["max"].get<std::int64_t>();
  return least == most
             ? fmt::format("{}", most)
             : fmt::format("{} to {}, {:.1f} on average,", least, most, iterations["mean"]);
}

void print_asynchrony(const Json& run) {
  const Json& asynchrony = run["asynchrony"];
  fmt::print("messages     {} sent, {} received, {} left out because the channel was full\n",
             asynchrony["sent"], asynchrony["received"], asynchrony["skipped"]);
  const Json& staleness = asynchrony["staleness"];
  if (!staleness.empty())
    fmt::print("staleness    {:.1f} sweeps on average, {} to {}; {:.1f} messages at a time\n",
               mean_of(staleness), staleness.front()[0], staleness.back()[0],
               mean_of(asynchrony["batches"]));
  if (!asynchrony.contains("detection")) return;
  const Json& detection = asynchrony["detection"];
  fmt::print(
      "detection    by {}: fired {} time{}, {} verification{} failed, delay {:.3f} s, {:.0f} "
      "sweeps wasted\n",
      asynchrony["detector"], detection["fired"], number(detection["fired"]) == 1 ? "" : "s",
      detection["failed_verifications"], number(detection["failed_verifications"]) == 1 ? "" : "s",
      detection["delay_seconds"], detection["wasted_sweeps"]["mean"]);
}

void print_times(const Json& run, const std::string& unit) {
  Json rows = rows_of_spreads(run["times"]);
  for (Json& row : rows) row["iterations"] = run["iterations"];
  std::vector<TableColumn> columns = spread_columns("seconds per rank");
  columns.front().width = -28;
  columns.push_back(ratio_column("us per " + unit, 18, "/mean", "/iterations/mean", "{:.2f}", 1e6));
  fmt::print("\n");
  print_table(columns, rows);
}

}  // namespace weft::tools
