#include "library/system/measured_machine.h"

#include <fstream>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/solve/solve_description.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using nlohmann::literals::operator""_json_pointer;

Json read_report(const std::string& path, const std::string& command) {
  std::ifstream file(path);
  if (!file)
    throw InputError(
        fmt::format("{}: cannot be read; expected a report of weft {}", path, command));
  Json report = Json::parse(file, nullptr, false);
  if (!report.is_object() || report.value("command", "") != command)
    throw InputError(fmt::format("{}: expected a report of weft {}", path, command));
  return report;
}

/// The number at `pointer` of a report. Throws comm_thread::InputError.
double number_at(const Json& report, const std::string& path, const std::string& pointer) {
  const Json::json_pointer place(pointer);
  if (!report.contains(place) || !report[place].is_number())
    throw InputError(fmt::format("{}: found no number at {}", path, pointer));
  return report[place].get<double>();
}

}  // namespace

void take_progress(solver::Machine& machine, const std::string& path) {
  const Json report = read_report(path, "progress");
  machine.name = "measured";
  machine.source = "weft progress, " + path;
  const double latency = number_at(report, path, "/performance/latency_seconds");
  // What is in the way of a message is simulated, too.
  machine.latency = report["performance"].value("least_latency_seconds", latency);
  const double bandwidth = number_at(report, path, "/performance/bandwidth_bytes_per_second");
  if (!(bandwidth > 0))
    throw InputError(fmt::format("{}: found a link without bandwidth; expected two ranks", path));
  machine.gap_per_byte = 1 / bandwidth;
}

void take_roofline(solver::Machine& machine, const std::string& path) {
  const Json report = read_report(path, "roofline");
  constexpr double bytes_per_point = 24;
  double bandwidth = 0;
  for (const Json& loop : report.value("/bandwidth/all"_json_pointer, Json::array()))
    if (loop.value("loop", "") == "copy") bandwidth = 1e9 * loop.value("gb_per_second", 0.0);
  if (!(bandwidth > 0))
    throw InputError(fmt::format("{}: found no bandwidth of the loop copy", path));
  machine.seconds_per_point = bytes_per_point * machine.ranks_per_node / bandwidth;
  machine.source += (machine.source.empty() ? "" : "; ") + ("weft roofline, " + path);
}

}  // namespace weft::library
