#include "tools/system/memory_report.h"

#include <cmath>

#include <fmt/format.h>

#include "comm_thread/placement/node_memory.h"

namespace weft::tools {
namespace {

/// A forecast for people.
void print_memory(const Json& report) {
  const auto words = [](const Json& bytes) {
    return comm_thread::bytes_in_words(bytes.get<double>());
  };
  std::string parts;
  for (const auto& [name, bytes] : report["parts"].items())
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name, words(bytes));
  fmt::print("forecast     {} per rank, {} per node ({})\n", words(report["rank_bytes"]),
             words(report["node_bytes"]), parts);
  fmt::print("available    {} {}\n", report["limited_by"], words(report["available_bytes"]));
}

}  // namespace

Json collective_memory_report(const Job& job, const library::MemoryForecast& forecast) {
  const comm_thread::NodeMemory memory = job.node_memory();
  Json report;
  report["rank_bytes"] = std::round(job.world().max(forecast.bytes()));
  report["node_bytes"] = std::round(job.world().max(job.node().sum(forecast.bytes())));
  report["available_bytes"] = std::round(memory.available_bytes);
  report["limited_by"] = memory.limited_by;
  report["parts"] = Json::object();
  for (const auto& part : forecast.largest()) report["parts"][part.name] = std::round(part.bytes);
  return report;
}

int collective_show_forecast(const Job& job, const ReportFile& report_file,
                             const std::string& command, const std::string& problem,
                             const library::MemoryForecast& forecast) {
  Json report = collective_start_report(job, command);
  report["problem"] = {{"name", problem}};
  report["memory"]["forecast"] = collective_memory_report(job, forecast);
  if (report_file.collective_write(report)) {
    fmt::print("problem      {}, {}\n", problem, ranks_and_threads(report));
    print_memory(report["memory"]["forecast"]);
  }
  return 0;
}

}  // namespace weft::tools
