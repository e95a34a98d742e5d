#include "tools/roofline/roofline_report.h"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "tools/roofline/core_report.h"

namespace weft::tools {
namespace {

/// Loop with a column in a table, and the title of the column.
struct Column {
  perfmodel::Stream stream;
  const char* title;
};
using perfmodel::Stream;
constexpr std::array columns{
    Column{Stream::load, "load"},         Column{Stream::store, "store"},
    Column{Stream::store_past, "(past)"}, Column{Stream::update, "update"},
    Column{Stream::copy, "copy"},         Column{Stream::copy_past, "(past)"},
    Column{Stream::triad, "triad"},       Column{Stream::triad_past, "(past)"}};

void print_loops(const std::string& label, const Json& loops, const char* rate = "gb_per_second") {
  fmt::print("  {:<22}", label);
  for (const Column& column : columns) {
    std::string text = "-";
    for (const Json& loop : loops)
      if (loop["loop"] == perfmodel::name(column.stream)) text = fmt::format("{:.1f}", loop[rate]);
    fmt::print("{:>9}", text);
  }
  fmt::print("\n");
}

std::string bytes_as_text(double bytes) {
  return bytes < 1e6 ? fmt::format("{:.0f} KiB", bytes / 1024)
                     : fmt::format("{:.3g} MiB", bytes / 1024 / 1024);
}

void print_bandwidth(const Json& bandwidth) {
  fmt::print("\n{:<24}", "GB/s, write-allocate in");
  for (const Column& column : columns) fmt::print("{:>9}", column.title);
  fmt::print("\n");
  for (const Json& row : bandwidth["cores"]) {
    const int cores = row["cores"].get<int>();
    print_loops(fmt::format("{} core{}", cores, cores == 1 ? "" : "s"), row["loops"]);
  }
  for (const Json& row : bandwidth["numa_domains"])
    print_loops(fmt::format("NUMA domain {}, {} cores", row["domain"], row["cores"]), row["loops"]);
  print_loops("all, beside the kernels", bandwidth["all"]);
  for (const Json& row : bandwidth["caches"])
    print_loops(fmt::format("L{}, {} a thread", row["level"],
                            bytes_as_text(row["bytes_per_thread"].get<double>())),
                row["loops"], "counted_gb_per_second");
  fmt::print("  (past): stores past the caches, without write-allocate; in caches there is none\n");
  fmt::print("  registers alone: {:.1f} GFLOP/s, multiplications and additions apart\n",
             bandwidth["peak_gflops"]);
}

/// Which of the two is quicker where they are apart, and how far apart the loop's own runs before
/// and after likwid-bench were, if that is much.
std::string difference_text(const Json& loop) {
  if (loop["agrees"].get<bool>()) return {};
  const double part = loop["unsteadiness"].get<double>();
  return fmt::format("  {}{}", loop["ratio"].get<double>() > 1 ? "quicker here" : "slower here",
                     part > 0.05 ? fmt::format("; own runs {:.0f} % apart", 100 * part) : "");
}

void print_likwid(const Json& likwid) {
  fmt::print("\n");
  if (likwid["missing"].is_string()) {
    fmt::print("likwid-bench: not compared: {}\n", likwid["missing"]);
    if (likwid["loops"].empty()) return;
  }
  fmt::print("{:<22}{:>12}{:>14}{:>10}\n", "GB/s as counted", "weft", "likwid-bench", "ratio");
  for (const Json& loop : likwid["loops"])
    fmt::print("  {:<20}{:>12.2f}{:>14.2f}{:>10.3f}{}\n",
               loop["loop"].get<std::string>() +
                   (loop["level"] == "memory" ? "" : ", " + loop["level"].get<std::string>()),
               loop["counted_gb_per_second"], loop["likwid_gb_per_second"], loop["ratio"],
               difference_text(loop));
}

void print_kernels(const Json& kernels) {
  fmt::print("\n{:<18}{:>9}{:>9}{:>10}{:>10}{:>10}{:>10}  {}\n", "kernel", "MB", "Mflop",
             "model ms", "ms", "GFLOP/s", "of model", "verdict");
  for (const Json& kernel : kernels) {
    const std::string verdict = kernel["verdict"].get<std::string>();
    // A fault of the probes is that of all kernels, and printed above.
    const bool is_refused = verdict == perfmodel::name(perfmodel::Judgement::refused);
    const std::string reason = is_refused ? "" : kernel["reason"].get<std::string>();
    fmt::print("{:<18}{:>9.1f}{:>9.1f}{:>10.3f}{:>10.3f}{:>10.2f}{:>10.2f}  {}{}{}\n",
               kernel["name"], number(kernel["model_bytes"]) * 1e-6,
               number(kernel["model_flops"]) * 1e-6, number(kernel["model_seconds"]) * 1e3,
               number(kernel["seconds"]) * 1e3, kernel["gflops"], kernel["fraction"], verdict,
               reason.empty() ? "" : ": ", reason);
  }
}

/// Bytes per nonzero above the model, by the memory counters; nothing without.
std::optional<double> counted_kappa(const library::KernelResult& result, const Json& counters) {
  for (const Json& region : counters["regions"])
    if (region["name"] == result.name && region["memory_bytes"].is_number())
      return (region["memory_bytes"].get<double>() / region["calls"].get<double>() -
              result.traffic.total_bytes()) /
             result.nonzeros;
  return std::nullopt;
}

void print_kappa(const Json& kernels) {
  for (const Json& kernel : kernels) {
    if (!kernel.contains("kappa") || kernel["verdict"] == "in cache") continue;
    const Json& kappa = kernel["kappa"];
    fmt::print("kappa of {}: ", kernel["name"]);
    if (kappa["counted"].is_number())
      fmt::print("{:.2f} bytes per nonzero by the memory counters, ", kappa["counted"]);
    fmt::print("{:.2f} bytes per nonzero in a simulated cache, at most {:.2f} by its time\n",
               kappa["simulated"], kappa["bound_by_time"]);
  }
}

}  // namespace

Json stream_report(Stream stream, double elements_per_second) {
  const auto traffic = perfmodel::traffic_of(stream);
  return {{"loop", perfmodel::name(stream)},
          {"gb_per_second", elements_per_second * traffic.total_bytes() * 1e-9},
          {"counted_gb_per_second", elements_per_second * traffic.counted_bytes * 1e-9}};
}

Json bandwidth_report(const std::vector<library::PartBandwidth>& parts, const char* part_field,
                      const char* size_field) {
  Json list = Json::array();
  for (const library::PartBandwidth& part : parts) {
    Json& row = list.emplace_back(Json{{part_field, part.part}});
    row[size_field] = part.size;
    row["loops"] = Json::array();
    for (const auto& [stream, rate] : part.elements_per_second)
      row["loops"].push_back(stream_report(stream, rate));
  }
  return list;
}

Json likwid_report(const library::LikwidComparison& comparison) {
  Json loops = Json::array();
  for (const library::LikwidLoop& loop : comparison.loops)
    loops.push_back({{"loop", perfmodel::name(loop.stream)},
                     {"level", loop.level},
                     {"likwid_kernel", loop.kernel},
                     {"counted_gb_per_second", loop.bytes_per_second * 1e-9},
                     {"likwid_gb_per_second", loop.likwid_bytes_per_second * 1e-9},
                     {"ratio", loop.ratio},
                     {"unsteadiness", loop.unsteadiness},
                     {"agrees", loop.agrees}});
  const std::string& missing = comparison.missing;
  return {{"missing", missing.empty() ? Json(nullptr) : Json(missing)}, {"loops", loops}};
}

Json kernel_report(const library::KernelResult& result, const Json& counters) {
  const double gflops = 1e-9 * result.traffic.flops;
  Json report = {{"name", result.name},
                 {"what", result.what},
                 {"model_bytes", result.traffic.total_bytes()},
                 {"model_flops", result.traffic.flops},
                 {"data_bytes", result.data_bytes},
                 {"limit", perfmodel::name(result.limit)},
                 {"model_seconds", result.model_seconds},
                 {"model_gflops", gflops / result.model_seconds},
                 {"seconds", result.seconds.median},
                 {"spread", result.seconds.spread},
                 {"gflops", gflops / result.seconds.median},
                 {"gb_per_second", 1e-9 * result.traffic.total_bytes() / result.seconds.median},
                 {"fraction", result.fraction},
                 {"thread_balance", result.balance},
                 {"core_seconds", nullptr},
                 {"in_turn_seconds", nullptr},
                 {"core_bounds", core_bounds_report(result.core_bounds)},
                 {"verdict", perfmodel::name(result.verdict.judgement)},
                 {"reason", result.verdict.reason}};
  if (result.width > 1) report["width"] = result.width;
  if (result.width > 1) report["fraction_with_reload"] = result.reload_fraction;
  if (result.core_seconds > 0) report["core_seconds"] = result.core_seconds;
  if (result.in_turn_seconds > 0) report["in_turn_seconds"] = result.in_turn_seconds;
  if (result.kappa_simulated >= 0) {
    const auto counted = counted_kappa(result, counters);
    report["kappa"] = {
        {"source", counted ? "memory counters" : "simulated cache; bound from measured time"},
        {"simulated", result.kappa_simulated},
        {"bound_by_time", result.kappa_bound},
        {"counted", counted ? Json(*counted) : Json(nullptr)}};
  }
  return report;
}

std::vector<std::string> kernels_below(const std::vector<library::KernelResult>& results,
                                       double required) {
  std::vector<std::string> names;
  for (const library::KernelResult& result : results)
    if (result.verdict.judgement == perfmodel::Judgement::below && result.fraction < required)
      names.push_back(result.name);
  return names;
}

void print_roofline(const Json& report) {
  const Json& problem = report["problem"];
  fmt::print("problem      {}: {} rows, {} nonzeros\n", problem["name"], problem["rows"],
             problem["nonzeros"]);
  fmt::print("run          {}, {}, arrays of {} MiB\n", ranks_and_threads(report),
             report["environment"]["simd"],
             report["bandwidth"]["array_bytes"].get<std::int64_t>() >> 20);
  print_bandwidth(report["bandwidth"]);
  print_cores(report["cores"], report["probes"]);
  print_likwid(report["likwid_bench"]);
  print_kernels(report["kernels"]);
  fmt::print("\n");
  print_kappa(report["kernels"]);
  const Json& counters = report["counters"];
  if (counters["missing"].is_string()) fmt::print("hardware counters: {}\n", counters["missing"]);
  print_findings(report);
}

}  // namespace weft::tools
