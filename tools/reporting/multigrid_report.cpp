#include "tools/reporting/multigrid_report.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "solver/multigrid/cycle_preconditioner.h"
#include "tools/measure/communication_cost.h"

namespace weft::tools {
namespace {

using solver::CycleReport;
using solver::PassReport;

/// `cycles`: over which times are averaged; `points`: of the grid.
Json collective_pass_report(const Job& job, comm_thread::CommThread& comm_thread,
                            const PassReport& pass, double cycles, double points) {
  const double seconds = job.world().max(pass.times.seconds) / cycles;
  const double waited = job.world().max(pass.times.halo_wait_seconds) / cycles;
  const double bytes = job.world().sum(pass.model_bytes);
  const double alone = collective_measure_exchange(job, comm_thread, pass.halo);
  return {{"seconds", seconds},
          {"model_bytes_per_point", bytes / points},
          {"gb_per_second", seconds > 0 ? bytes / seconds * 1e-9 : 0},
          {"halo",
           {{"bytes", job.world().sum(pass.sent_bytes)},
            {"messages", job.world().sum(std::int64_t{pass.sent_messages})},
            {"seconds_alone", alone},
            {"seconds_waited", waited},
            {"hidden_fraction", hidden_fraction(waited, 1, alone)}}}};
}

/// Of a cycle on all grids.
struct Summary {
  /// If every exchange ran beside the pass that waits for it, as far as that is long enough.
  double bound_seconds = 0;
  double hidden_fraction = 0;
};

Summary summary_of(const Json& levels) {
  Summary all;
  double alone = 0;
  double waited = 0;
  for (const Json& level : levels)
    for (const char* const name : {"down", "up"}) {
      if (!level.contains(name)) continue;
      const Json& pass = level[name];
      const Json& halo = pass["halo"];
      const auto number = [](const Json& value) { return value.get<double>(); };
      const double computing = number(pass["seconds"]) - number(halo["seconds_waited"]);
      all.bound_seconds += std::max(computing, number(halo["seconds_alone"]));
      alone += number(halo["seconds_alone"]);
      waited += number(halo["seconds_waited"]);
    }
  all.hidden_fraction = hidden_fraction(waited, 1, alone);
  return all;
}

void print_pass(const std::string& name, const Json& ranks, const char* direction,
                const Json& pass) {
  const Json& halo = pass["halo"];
  const auto number = [](const Json& value) { return value.get<double>(); };
  fmt::print("  {:<18}{:>6}  {:<6}{:>10.3f}{:>9.1f}{:>8.1f}", name, ranks.get<std::int64_t>(),
             direction, 1e3 * number(pass["seconds"]), number(pass["model_bytes_per_point"]),
             number(pass["gb_per_second"]));
  if (halo["messages"].get<std::int64_t>() > 0)
    fmt::print("{:>11.1f}{:>10}{:>10.3f}{:>8.0f} %", 1e-3 * number(halo["bytes"]),
               halo["messages"].get<std::int64_t>(), 1e3 * number(halo["seconds_alone"]),
               100 * number(halo["hidden_fraction"]));
  fmt::print("\n");
}

}  // namespace

MultigridGrids::MultigridGrids(solver::KrylovMethod& method, solver::Preconditioner* preconditioner)
    : method_(dynamic_cast<solver::MultigridMethod*>(&method)) {
  if (auto* const made = dynamic_cast<solver::CyclePreconditioner*>(preconditioner))
    cycle_ = &made->cycle();
}

void MultigridGrids::forget_times() {
  if (method_) method_->forget_times();
  if (cycle_) cycle_->forget_times();
}

Json MultigridGrids::collective_report(const Job& job, comm_thread::CommThread& comm_thread) {
  if (!exist()) return nullptr;
  const CycleReport report = method_ ? method_->report() : cycle_->report();
  const auto cycles = static_cast<double>(std::max<std::int64_t>(report.cycles, 1));
  Json levels = Json::array();
  double finest_points = 0;
  for (const solver::LevelReport& level : report.levels) {
    const auto points = static_cast<double>(level.size[0] * level.size[1] * level.size[2]);
    finest_points = std::max(finest_points, points);
    Json one = {{"grid", level.size},
                {"ranks", job.world().sum(std::int64_t{level.own_points > 0})},
                {"down", collective_pass_report(job, comm_thread, level.down, cycles, points)}};
    const bool is_last = &level == &report.levels.back();
    if (!is_last) one["up"] = collective_pass_report(job, comm_thread, level.up, cycles, points);
    levels.push_back(std::move(one));
  }
  const double bytes = job.world().sum(static_cast<double>(report.allocated_bytes));
  const Summary all = summary_of(levels);
  const solver::Gathering& gathering = report.gathering;
  Json chosen = {{"least_points", gathering.least_points}, {"is_chosen", gathering.is_chosen}};
  if (gathering.is_chosen) {
    chosen["latency_seconds"] = gathering.latency_seconds;
    chosen["bytes_per_second"] = gathering.bytes_per_second;
    chosen["modelled_seconds"] = gathering.modelled_seconds;
  }
  return {{"steps", report.steps},
          {"coarse_steps", report.coarse_steps},
          {"precision", report.value_bytes == sizeof(float) ? "single" : "double"},
          {"cycles", report.cycles},
          {"gathering", std::move(chosen)},
          {"bound_seconds", all.bound_seconds},
          {"hidden_fraction", all.hidden_fraction},
          {"allocated_bytes_per_row", bytes / finest_points},
          {"levels", std::move(levels)}};
}

void print_multigrid(const Json& multigrid) {
  const int steps = multigrid["steps"].get<int>();
  const int coarse_steps = multigrid["coarse_steps"].get<int>();
  std::string cycle = fmt::format("V({},{})", steps, steps);
  if (coarse_steps != steps) cycle += fmt::format("/V({},{})", coarse_steps, coarse_steps);
  fmt::print("\n{:<20}{:>6}  {:<6}{:>10}{:>9}{:>8}{:>11}{:>10}{:>10}{:>10}\n",
             cycle + (multigrid["precision"] == "double" ? " double" : "") + ", grids", "ranks",
             "pass", "ms/cycle", "B/point", "GB/s", "halo KB", "messages", "ms alone", "hidden");
  const Json& levels = multigrid["levels"];
  for (const Json& level : levels) {
    const Json& grid = level["grid"];
    const std::string name = fmt::format("{}x{}x{}", grid[0].get<std::int64_t>(),
                                         grid[1].get<std::int64_t>(), grid[2].get<std::int64_t>());
    print_pass(name, level["ranks"], level.contains("up") ? "down" : "direct", level["down"]);
    if (level.contains("up")) print_pass("", level["ranks"], "up", level["up"]);
  }
  const Json& gathering = multigrid["gathering"];
  if (gathering["is_chosen"].get<bool>())
    fmt::print(
        "gathering           below {} points of a rank in a direction: {:.1f} us and {:.2f} GB/s "
        "an "
        "exchange, by the model {:.3f} ms on coarse grids\n",
        gathering["least_points"].get<std::int64_t>(),
        1e6 * gathering["latency_seconds"].get<double>(),
        1e-9 * gathering["bytes_per_second"].get<double>(),
        1e3 * gathering["modelled_seconds"].get<double>());
}

}  // namespace weft::tools
