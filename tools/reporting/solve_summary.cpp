#include "tools/reporting/solve_summary.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "library/solve/solve_description.h"
#include "tools/reporting/choices_report.h"
#include "tools/reporting/columns_report.h"
#include "tools/reporting/report_table.h"
#include "tools/reporting/solve_levels.h"
#include "tools/reporting/storage_report.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

using perfmodel::Phase;
using solver::SolveReport;

Json performance_report(const SolveFacts& facts, const SolveReport& solve) {
  const double iterations = static_cast<double>(std::max<std::int64_t>(solve.iterations, 1));
  const double seconds = solve.phases.total() / iterations;
  const solver::MethodNeeds& needs = facts.needs;
  const double flops = needs.flops_per_nonzero * facts.nonzeros + needs.flops_per_row * facts.rows;
  const double bytes = facts.entry->products * facts.matrix_bytes / solve.vectors_at_once +
                       needs.vector_bytes * facts.rows;
  return {{"gflops", seconds > 0 ? flops / seconds * 1e-9 : 0},
          {"seconds_per_iteration", seconds},
          {"model_bytes_per_row", bytes / facts.rows},
          {"model_bytes_per_iteration", bytes},
          {"model_bandwidth_gb_per_second", seconds > 0 ? bytes / seconds * 1e-9 : 0},
          {"boundary_row_fraction", static_cast<double>(facts.boundary_rows) / facts.rows}};
}

/// Time spent waiting for other ranks, as shares of the time and compared with the messages alone.
Json collective_waiting_report(const Job& job, const SolveFacts& facts, const SolveReport& solve) {
  const double total = job.world().max(solve.phases.total());
  const double iterations = static_cast<double>(solve.iterations) / solve.vectors_at_once;
  const double halo = job.world().max(solve.phases[Phase::halo_wait]);
  const double reduction = job.world().max(solve.phases[Phase::reduction]);
  const auto share = [&](double seconds) { return total > 0 ? seconds / total : 0; };
  return {{"halo",
           {{"seconds_alone", facts.communication.halo_seconds},
            {"share_of_time", share(halo)},
            {"hidden_fraction", library::hidden_fraction(halo, iterations * facts.entry->products,
                                                         facts.communication.halo_seconds)}}},
          {"reduction",
           {{"seconds_alone", facts.communication.reduction_seconds},
            {"share_of_time", share(reduction)},
            {"hidden_fraction",
             library::hidden_fraction(reduction, iterations * facts.entry->reductions,
                                      facts.communication.reduction_seconds)}}}};
}

Json collective_phases_report(const Job& job, const SolveReport& solve) {
  Json phases;
  for (std::size_t i = 0; i < perfmodel::phase_count; ++i) {
    const auto phase = static_cast<Phase>(i);
    phases[perfmodel::name(phase)] = collective_spread(job, solve.phases[phase]);
  }
  phases["communication_thread_cpu"] = collective_spread(job, solve.comm_thread_cpu_seconds);
  return phases;
}

Json collective_schwarz_report(const Job& job, const SolveFacts& facts) {
  const solver::SchwarzOptions& options = facts.schwarz->options();
  Json report = {{"kind", solver::name(options.kind)},
                 {"partition",
                  options.partition == solver::SchwarzOptions::Partition::graph ? "metis" : "rows"},
                 {"subdomains", facts.schwarz->piece_count()},
                 {"overlap", options.overlap},
                 {"solved_by_lu", facts.schwarz->lu_count()},
                 {"largest_subdomain", facts.schwarz->largest_piece()},
                 {"setup_seconds", facts.preconditioner_setup_seconds},
                 {"seconds", collective_spread(job, facts.schwarz_seconds)}};
  if (options.kind == solver::SchwarzOptions::Kind::optimized) report["shift"] = options.shift;
  return report;
}

void print_schwarz(const std::string& name, const Json& schwarz) {
  fmt::print(
      "{:<13}{}{}, {} subdomain{} of up to {} rows, overlap {}: set-up {:.3f} s, {:.3f} s "
      "of "
      "the solve\n",
      name, schwarz["kind"],
      schwarz.contains("shift") ? fmt::format(" with shift {:.3g}", schwarz["shift"]) : "",
      schwarz["subdomains"], schwarz["subdomains"].get<std::int64_t>() == 1 ? "" : "s",
      schwarz["largest_subdomain"], schwarz["overlap"], schwarz["setup_seconds"],
      schwarz["seconds"]["max"]);
}

/// Prints the waiting times, if there is more than one rank.
void print_waiting(const Json& waiting) {
  for (const auto& [what, numbers] : waiting.items())
    if (numbers["seconds_alone"].get<double>() > 0)
      fmt::print("{:<13}{:.3f} ms alone, {:.0f} % hidden, {:.1f} % of the time waited for\n", what,
                 1e3 * number(numbers["seconds_alone"]), 100 * number(numbers["hidden_fraction"]),
                 100 * number(numbers["share_of_time"]));
}

std::string text_of(const Json& value) { return value.get<std::string>(); }

/// What is solved, and how.
void print_problem(const Json& report) {
  const Json& problem = report["problem"];
  fmt::print("problem      {}: {} rows, {} nonzeros, b = {}\n", problem["name"], problem["rows"],
             problem["nonzeros"], problem["right_hand_side"]);
  if (report.contains("ordering")) print_ordering(report["ordering"]);
  if (report.contains("decisions"))
    for (const Json& decision : report["decisions"])
      fmt::print("choice       {}\n", text_of(decision));
  if (report.contains("choices")) print_choices(report["choices"]);
  if (report.contains("null_space"))
    fmt::print("null space   {}: projected out\n", report["null_space"]);
  if (report.contains("command_line")) fmt::print("same as      {}\n", report["command_line"]);
  fmt::print("run          {}, {} mode, {}, {}\n", report["method"], report["mode"],
             ranks_and_threads(report), storage_phrase(report["performance"]));
  if (report.contains("schwarz_preconditioner"))
    print_schwarz(text_of(report["preconditioner"]), report["schwarz_preconditioner"]);
}

/// Time and memory.
void print_cost(const Json& report) {
  const Json& seconds = report["seconds"];
  const Json& performance = report["performance"];
  fmt::print("time         {:.3f} s: set-up {:.3f} s, solve {:.3f} s\n", seconds["total"],
             seconds["setup"], seconds["solve"]);
  fmt::print("performance  {:.2f} GFLOP/s, {:.3f} ms per iteration\n", performance["gflops"],
             1e3 * number(performance["seconds_per_iteration"]));
  fmt::print("memory       {:.1f} GB/s: {:.1f} bytes per row and iteration by the model\n",
             performance["model_bandwidth_gb_per_second"], performance["model_bytes_per_row"]);
  fmt::print("{}", peak_memory(report));
}

}  // namespace

Json collective_solve_report(const Job& job, const SolveOptions& options, const SolveFacts& facts,
                             const Report& description, const SolveReport& solve) {
  Json report = collective_start_report(job, "solve");
  report["problem"] = {{"name", facts.problem},
                       {"rows", static_cast<std::int64_t>(facts.rows)},
                       {"nonzeros", static_cast<std::int64_t>(facts.nonzeros)},
                       {"right_hand_side", options.right_hand_side}};
  if (!facts.ordering.is_null()) report["ordering"] = facts.ordering;
  Json told = library::json_of(description);
  for (auto& [key, value] : told.items()) report[key] = std::move(value);
  if (facts.restart > 0) report["restart"] = facts.restart;
  if (!facts.choices.is_null()) report["choices"] = facts.choices;
  if (!facts.command.empty()) report["command_line"] = facts.command;
  if (!facts.mode_choice.empty()) report["mode_choice"] = facts.mode_choice;
  if (facts.schwarz) report["schwarz_preconditioner"] = collective_schwarz_report(job, facts);
  if (!facts.multigrid.is_null()) report["multigrid"] = facts.multigrid;
  if (!facts.amg.is_null()) report["amg"] = facts.amg;
  report["tolerance"] = options.stop.tolerance;
  report["seconds"]["total"] = facts.total_seconds;
  report["phases"] = collective_phases_report(job, solve);
  Json performance = performance_report(facts, solve);
  performance.update(report["performance"]);
  report["performance"] = std::move(performance);
  report["waiting"] = collective_waiting_report(job, facts, solve);
  return report;
}

void print_solve_summary(const Json& report) {
  print_problem(report);
  const bool has_columns = report.contains("columns");
  fmt::print("result       {} after {} iterations{}\n", report["status"], report["iterations"],
             has_columns ? fmt::format(" for {} right-hand sides", report["columns"].size()) : "");
  if (report.contains("explanation")) fmt::print("             {}\n", report["explanation"]);
  if (has_columns) print_columns(report["columns"]);
  if (report.contains("method_choice")) fmt::print("method       {}\n", report["method_choice"]);
  if (report.contains("mode_choice") && !report.contains("choices"))
    fmt::print("mode         {}\n", report["mode_choice"]);
  if (report["restarts"].get<std::int64_t>() > 0)
    fmt::print("restarts     {} from the true residual, {}\n", report["restarts"],
               report.contains("restart")
                   ? fmt::format("after at most {} iterations each", report["restart"])
                   : "because a recurrence had gone astray");
  fmt::print("residual     {:.3e} true, {:.3e} by recurrence, tolerance {:g}\n",
             report["relative_residual"], report["recurrence_residual"], report["tolerance"]);
  if (report.contains("scaled_residual") && report["scaled_residual"].is_number())
    fmt::print("             {:.3e} true with each row divided by its scale\n",
               report["scaled_residual"]);
  print_cost(report);
  print_waiting(report["waiting"]);
  fmt::print("\n");
  print_table(spread_columns("phase, seconds per rank"), rows_of_spreads(report["phases"]));
  for (const char* const name : {"multigrid", "amg"})
    if (report.contains(name)) print_levels(report[name]);
  print_findings(report);
}

}  // namespace weft::tools
