#include "tools/reporting/amg_report.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "library/options/preconditioner_words.h"
#include "tools/measure/communication_cost.h"

namespace weft::tools {

using solver::amg::HierarchyReport;

namespace {

/// What a level exchanges in a cycle, and how much of it was hidden.
Json collective_halo_report(const Job& job, comm_thread::CommThread& comm_thread,
                            const solver::amg::LevelReport& level, double cycles) {
  double alone = 0;
  for (const solver::amg::ExchangeReport& exchange : level.exchanges)
    alone += exchange.count * collective_measure_exchange(job, comm_thread, exchange.halo);
  const double waited = job.world().max(level.halo_wait_seconds) / cycles;
  return {{"bytes", job.world().sum(level.sent_bytes)},
          {"messages", job.world().sum(level.sent_messages)},
          {"seconds_alone", alone},
          {"seconds_waited", waited},
          {"hidden_fraction", hidden_fraction(waited, 1, alone)}};
}

}  // namespace

Json collective_amg_report(const Job& job, comm_thread::CommThread& comm_thread,
                           const HierarchyReport& hierarchy, double setup_seconds) {
  const auto cycles = static_cast<double>(std::max<std::int64_t>(hierarchy.cycles, 1));
  Json levels = Json::array();
  double bytes = 0;
  for (const solver::amg::LevelReport& level : hierarchy.levels) {
    const auto allocated = static_cast<double>(level.allocated_bytes);
    Json one = {{"rows", level.rows},
                {"nonzeros", level.nonzeros},
                {"ranks", level.ranks},
                {"visits", level.visits},
                {"solved", level.is_direct ? "directly" : "by smoothing"},
                {"boundary_rows", job.world().sum(level.boundary_rows)},
                {"allocated_bytes", collective_spread(job, allocated)},
                {"setup_seconds", job.world().max(level.setup_seconds)},
                {"seconds", job.world().max(level.seconds) / cycles},
                {"halo", collective_halo_report(job, comm_thread, level, cycles)}};
    if (level.largest_eigenvalue > 0) one["largest_eigenvalue"] = level.largest_eigenvalue;
    bytes += allocated;
    levels.push_back(std::move(one));
  }
  Json gathering = {{"rows", hierarchy.gathering.rows_a_rank()},
                    {"is_chosen", !hierarchy.gathering.is_given()}};
  if (hierarchy.gathering.latency_seconds())
    gathering["latency_seconds"] = *hierarchy.gathering.latency_seconds();
  return {{"cycle", library::name_of(hierarchy.form)},
          {"degree", hierarchy.degree},
          {"precision", hierarchy.is_single_precision ? "single" : "double"},
          {"gathering", std::move(gathering)},
          {"operator_complexity", hierarchy.operator_complexity},
          {"allocated_bytes", collective_spread(job, bytes)},
          {"cycles", hierarchy.cycles},
          {"setup_seconds", job.world().max(setup_seconds)},
          {"levels", std::move(levels)}};
}

void print_amg(const Json& amg) {
  const auto count = [](const Json& value) { return value.get<std::int64_t>(); };
  const auto number = [](const Json& value) { return value.get<double>(); };
  fmt::print(
      "\namg: {} cycle, degree {}, {} precision, operator complexity {:.2f}, {:.1f} MB a rank, "
      "set-up {:.3f} s\n",
      amg["cycle"].get<std::string>(), count(amg["degree"]), amg["precision"].get<std::string>(),
      number(amg["operator_complexity"]), 1e-6 * number(amg["allocated_bytes"]["max"]),
      number(amg["setup_seconds"]));
  if (const Json& gathering = amg["gathering"]; gathering.contains("latency_seconds"))
    fmt::print("an exchange takes {:.1f} us, by which levels stay or move to one rank\n",
               1e6 * number(gathering["latency_seconds"]));
  fmt::print("{:<8}{:>12}{:>14}{:>8}{:>9}{:>11}{:>10}{:>10}{:>11}{:>10}{:>9}\n", "level", "rows",
             "nonzeros", "ranks", "MB", "ms set-up", "ms/cycle", "messages", "halo KB", "ms alone",
             "hidden");
  int index = 0;
  for (const Json& level : amg["levels"]) {
    const Json& halo = level["halo"];
    fmt::print("{:<8}{:>12}{:>14}{:>8}{:>9.1f}{:>11.1f}{:>10.3f}",
               level["solved"] == "directly" ? "direct" : std::to_string(index++),
               count(level["rows"]), count(level["nonzeros"]), count(level["ranks"]),
               1e-6 * number(level["allocated_bytes"]["max"]), 1e3 * number(level["setup_seconds"]),
               1e3 * number(level["seconds"]));
    if (count(halo["messages"]) > 0)
      fmt::print("{:>10}{:>11.1f}{:>10.3f}{:>7.0f} %", count(halo["messages"]),
                 1e-3 * number(halo["bytes"]), 1e3 * number(halo["seconds_alone"]),
                 100 * number(halo["hidden_fraction"]));
    fmt::print("\n");
  }
}

}  // namespace weft::tools
