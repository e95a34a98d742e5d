#include "tools/reporting/solve_levels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "library/measure/communication_cost.h"
#include "library/options/preconditioner_words.h"
#include "tools/reporting/report_table.h"

namespace weft::tools {
namespace {

using solver::LevelReport;
using solver::LevelsReport;
using solver::PassReport;

bool is_grid(const LevelReport& level) { return level.grid[0] > 0; }

/// `cycles`: over which times are averaged; `rows`: of the level.
Json collective_pass_report(const Job& job, comm_thread::CommThread& comm_thread,
                            const PassReport& pass, double cycles, double rows) {
  const double seconds = job.world().max(pass.seconds) / cycles;
  const double waited = job.world().max(pass.halo_wait_seconds) / cycles;
  double alone = 0;
  for (const solver::ExchangeReport& exchange : pass.exchanges)
    alone += exchange.count * library::collective_measure_exchange(job, comm_thread, exchange.halo);
  Json report = {{"seconds", seconds},
                 {"halo",
                  {{"bytes", job.world().sum(pass.sent_bytes)},
                   {"messages", job.world().sum(pass.sent_messages)},
                   {"seconds_alone", alone},
                   {"seconds_waited", waited},
                   {"hidden_fraction", library::hidden_fraction(waited, 1, alone)}}}};
  if (const double bytes = job.world().sum(pass.model_bytes); rows > 0) {
    report["model_bytes_per_point"] = bytes / rows;
    report["gb_per_second"] = seconds > 0 ? bytes / seconds * 1e-9 : 0;
  }
  return report;
}

/// Adds a level of a grid, which has two passes, but for the last.
Json collective_grid_report(const Job& job, comm_thread::CommThread& comm_thread,
                            const LevelReport& level, double cycles) {
  Json report = {{"grid", level.grid}};
  const char* name = "down";
  for (const PassReport& pass : level.passes) {
    report[name] =
        collective_pass_report(job, comm_thread, pass, cycles, static_cast<double>(level.rows));
    name = "up";
  }
  return report;
}

Json collective_matrix_report(const Job& job, comm_thread::CommThread& comm_thread,
                              const LevelReport& level, double cycles) {
  Json report = collective_pass_report(job, comm_thread, level.passes.front(), cycles, 0);
  report["rows"] = level.rows;
  report["nonzeros"] = level.nonzeros;
  report["visits"] = level.visits;
  report["solved"] = level.is_direct ? "directly" : "by smoothing";
  report["boundary_rows"] = job.world().sum(level.boundary_rows);
  report["allocated_bytes"] = collective_spread(job, static_cast<double>(level.allocated_bytes));
  report["setup_seconds"] = job.world().max(level.setup_seconds);
  if (level.largest_eigenvalue > 0) report["largest_eigenvalue"] = level.largest_eigenvalue;
  return report;
}

Json gathering_report(const solver::Gathering& gathering, bool is_of_grids) {
  Json report = {{is_of_grids ? "least_points" : "rows", gathering.least_rows},
                 {"is_chosen", gathering.is_chosen}};
  if (!gathering.is_chosen || !gathering.latency_seconds) return report;
  report["latency_seconds"] = *gathering.latency_seconds;
  if (!is_of_grids) return report;
  report["bytes_per_second"] = gathering.bytes_per_second;
  report["modelled_seconds"] = gathering.modelled_seconds;
  return report;
}

/// Adds what a cycle would take if every exchange ran beside the pass that waits for it, as far as
/// that is long enough, and which part of the exchanges was hidden.
void add_summary(Json& report) {
  double bound = 0;
  double alone = 0;
  double waited = 0;
  for (const Json& level : report["levels"])
    for (const char* const name : {"down", "up"}) {
      if (!level.contains(name)) continue;
      const Json& halo = level[name]["halo"];
      const double computing = number(level[name]["seconds"]) - number(halo["seconds_waited"]);
      bound += std::max(computing, number(halo["seconds_alone"]));
      alone += number(halo["seconds_alone"]);
      waited += number(halo["seconds_waited"]);
    }
  report["bound_seconds"] = bound;
  report["hidden_fraction"] = library::hidden_fraction(waited, 1, alone);
}

std::string grid_name(const Json& grid) {
  return fmt::format("{}x{}x{}", grid[0], grid[1], grid[2]);
}

void print_title(const Json& report) {
  const std::string precision = report["precision"].get<std::string>();
  if (report.contains("degree"))
    return fmt::print(
        "\namg: {} cycle, degree {}, {} precision, operator complexity {:.2f}, {:.1f} MB a rank, "
        "set-up {:.3f} s\n",
        report["cycle"], report["degree"], precision, report["operator_complexity"],
        1e-6 * number(report["allocated_bytes"]["max"]), report["setup_seconds"]);
  const int steps = report["steps"].get<int>();
  const int coarse_steps = report["coarse_steps"].get<int>();
  fmt::print("\nmultigrid: V({},{}){}, {} precision\n", steps, steps,
             coarse_steps == steps
                 ? ""
                 : fmt::format(", coarse grids V({},{})", coarse_steps, coarse_steps),
             precision);
}

/// A row of the table for each level, or for each pass of a grid.
Json rows_of_levels(const Json& levels) {
  Json rows = Json::array();
  for (const Json& level : levels) {
    const auto add = [&](const std::string& name, const Json& pass) {
      Json& row = rows.emplace_back(level);
      row.update(pass);
      row["name"] = name;
    };
    if (!level.contains("grid")) {
      add(level["solved"] == "directly" ? "direct" : std::to_string(rows.size()), level);
      continue;
    }
    const std::string grid = grid_name(level["grid"]);
    add(grid + (level.contains("up") ? " down" : " direct"), level["down"]);
    if (level.contains("up")) add(grid + " up", level["up"]);
  }
  return rows;
}

void print_gathering(const Json& gathering) {
  if (!gathering.contains("latency_seconds")) return;
  const double latency = 1e6 * number(gathering["latency_seconds"]);
  if (gathering.contains("rows"))
    return fmt::print("an exchange takes {:.1f} us, by which levels stay or move to one rank\n",
                      latency);
  fmt::print(
      "gathering below {} points of a rank in a direction: {:.1f} us and {:.2f} GB/s an exchange, "
      "by the model {:.3f} ms on coarse grids\n",
      gathering["least_points"], latency, 1e-9 * number(gathering["bytes_per_second"]),
      1e3 * number(gathering["modelled_seconds"]));
}

}  // namespace

SolveLevels::SolveLevels(solver::KrylovMethod& method, solver::Preconditioner* preconditioner)
    : levels_(dynamic_cast<solver::Levels*>(&method)) {
  if (!levels_) levels_ = dynamic_cast<solver::Levels*>(preconditioner);
}

void SolveLevels::forget_times() {
  if (levels_) levels_->forget_times();
}

Json SolveLevels::collective_report(const Job& job, comm_thread::CommThread& comm_thread,
                                    double setup_seconds) {
  if (!levels_) return nullptr;
  const LevelsReport all = levels_->report();
  const bool is_of_grids = is_grid(all.levels.front());
  const auto cycles = static_cast<double>(std::max<std::int64_t>(all.cycles, 1));
  Json report = {{"precision", all.is_double ? "double" : "single"},
                 {"cycles", all.cycles},
                 {"gathering", gathering_report(all.gathering, is_of_grids)},
                 {"levels", Json::array()}};
  double bytes = 0;
  for (const LevelReport& level : all.levels) {
    Json& one = report["levels"].emplace_back(
        is_of_grids ? collective_grid_report(job, comm_thread, level, cycles)
                    : collective_matrix_report(job, comm_thread, level, cycles));
    one["ranks"] = job.world().sum(std::int64_t{level.own_rows > 0});
    bytes += static_cast<double>(level.allocated_bytes);
  }
  if (is_of_grids) {
    report["steps"] = all.steps;
    report["coarse_steps"] = all.coarse_steps;
    report["allocated_bytes_per_row"] =
        job.world().sum(bytes) / static_cast<double>(all.levels.front().rows);
    add_summary(report);
    return report;
  }
  report["cycle"] = library::name_of(all.form);
  report["degree"] = all.steps;
  report["operator_complexity"] = all.operator_complexity();
  report["allocated_bytes"] = collective_spread(job, bytes);
  report["setup_seconds"] = job.world().max(setup_seconds);
  return report;
}

void print_levels(const Json& report) {
  print_title(report);
  Json rows = rows_of_levels(report["levels"]);
  std::vector<TableColumn> columns{
      column(rows.front().contains("grid") ? "grid" : "level", -22, "/name"),
      column("rows", 12, "/rows"),
      column("nonzeros", 14, "/nonzeros"),
      column("ranks", 8, "/ranks"),
      column("MB", 9, "/allocated_bytes/max", "{:.1f}", 1e-6),
      column("ms set-up", 11, "/setup_seconds", "{:.1f}", 1e3),
      column("ms/cycle", 10, "/seconds", "{:.3f}", 1e3),
      column("B/point", 9, "/model_bytes_per_point", "{:.1f}"),
      column("GB/s", 8, "/gb_per_second", "{:.1f}"),
      column("messages", 10, "/halo/messages"),
      column("halo KB", 11, "/halo/bytes", "{:.1f}", 1e-3),
      column("ms alone", 10, "/halo/seconds_alone", "{:.3f}", 1e3),
      column("hidden", 9, "/halo/hidden_fraction", "{:.0f} %", 100)};
  std::erase_if(columns,
                [&rows](const TableColumn& each) { return each.cell(rows.front()).empty(); });
  for (Json& row : rows)
    if (number(row["halo"]["messages"]) == 0) row.erase("halo");
  print_table(columns, rows);
  print_gathering(report["gathering"]);
}

}  // namespace weft::tools
