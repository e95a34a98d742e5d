#include "tools/reporting/run_output.h"

#include <cstdint>

#include <fmt/format.h>

#include "solver/checkpoint/checkpoints.h"
#include "tools/system/memory_report.h"

namespace weft::tools {
namespace {

Json collective_checkpoint_report(const Job& job, const std::string& path,
                                  const solver::Checkpoints::Report& checkpoints) {
  Json report;
  if (checkpoints.is_continued) report["continued_from"] = checkpoints.first_iteration;
  if (!checkpoints.warning.empty()) report["warning"] = checkpoints.warning;
  const double team_seconds = job.world().max(checkpoints.team_seconds);
  const double write_seconds = job.world().max(checkpoints.write_seconds);
  if (path.empty()) return report;
  report["file"] = path;
  report["written"] = checkpoints.written;
  report["failed"] = checkpoints.failed;
  if (checkpoints.failed > 0) report["last_failure"] = checkpoints.last_failure;
  if (checkpoints.last_iteration >= 0) report["last_iteration"] = checkpoints.last_iteration;
  report["bytes"] = checkpoints.bytes;
  report["team_seconds"] = team_seconds;
  report["write_seconds"] = write_seconds;
  return report;
}

void print_checkpoints(const Json& checkpoints, double solve_seconds) {
  if (checkpoints.contains("continued_from"))
    fmt::print("restart      continued after {} iterations\n", checkpoints["continued_from"]);
  if (checkpoints.contains("warning")) fmt::print("             {}\n", checkpoints["warning"]);
  if (!checkpoints.contains("file")) return;
  const double team = checkpoints["team_seconds"].get<double>();
  fmt::print("checkpoint   {} written", checkpoints["written"]);
  if (checkpoints.contains("last_iteration"))
    fmt::print(" to {}, the last after {} iterations", checkpoints["file"],
               checkpoints["last_iteration"]);
  fmt::print(
      "; {:.3g} MB each: the team stood still for {:.3f} s, {:.2f} % of the solve; {:.3f} s "
      "in the background\n",
      number(checkpoints["bytes"]) / 1e6, team, solve_seconds > 0 ? 100 * team / solve_seconds : 0,
      checkpoints["write_seconds"]);
  if (checkpoints.contains("last_failure"))
    fmt::print("             {} failed: {}\n", checkpoints["failed"], checkpoints["last_failure"]);
}

}  // namespace

void collective_finish_run(const Job& job, RunOutput& output,
                           const library::MemoryForecast& forecast,
                           const JobCheckpoints* checkpoints, double solve_seconds, Json& report,
                           const std::function<void(const Json& report)>& print) {
  report["memory"]["forecast"] = collective_memory_report(job, forecast);
  const bool has_checkpoints = checkpoints && checkpoints->is_used();
  if (has_checkpoints)
    report["checkpoints"] =
        collective_checkpoint_report(job, checkpoints->path(), checkpoints->get()->report());
  output.timeline.collective_write(report);
  collective_report_phases(job, output.counters, report);
  if (!output.file.collective_write(report)) return;
  print(report);
  if (has_checkpoints) print_checkpoints(report["checkpoints"], solve_seconds);
  print_trace(report);
}

}  // namespace weft::tools
