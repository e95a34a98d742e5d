#include "tools/commands/spmv_command.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "library/measure/mode_race.h"
#include "library/measure/settled_storage.h"
#include "library/options/matrix_settings.h"
#include "perfmodel/statistics.h"
#include "perfmodel/stopwatch.h"
#include "perfmodel/traffic_model.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"
#include "tools/job/exit_codes.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/reporting/run_output.h"
#include "tools/reporting/storage_report.h"
#include "tools/system/memory_report.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

using spmv::Mode;

constexpr double small_problem_bytes = 256e6;

struct SpmvOptions : SystemOptions, library::MatrixSettings {
  SpmvOptions() { order.clear(); }

  std::vector<std::string> modes = spmv::mode_names();
  int repetitions = 20;
};

/// Keeps the first of equal modes.
void remove_repetitions(std::vector<std::string>& modes) {
  for (auto mode = modes.begin(); mode != modes.end();)
    mode = std::find(modes.begin(), mode, *mode) == mode ? mode + 1 : modes.erase(mode);
}

Json mode_report(const perfmodel::Statistics& seconds, double nonzeros, double crs_roofline_gflops,
                 double stored_roofline_gflops) {
  const double gflops = 2 * nonzeros / seconds.median * 1e-9;
  return {{"seconds", seconds.median},
          {"spread", seconds.spread},
          {"gflops", gflops},
          {"crs_roofline_fraction", gflops / crs_roofline_gflops},
          {"roofline_fraction", gflops / stored_roofline_gflops}};
}

Json collective_spmv_report(const Job& job, const library::LinearSystem& system,
                            const SpmvOptions& options, const library::ModeRace& race) {
  const spmv::SparseOperator& op = *system.matrix_operator();
  const double rows = static_cast<double>(op.global_row_count());
  const double nonzeros = static_cast<double>(system.nonzero_count());
  const double balance = perfmodel::crs_code_balance(nonzeros / rows);
  const double bytes =
      perfmodel::spmv_bytes(static_cast<double>(job.world().sum(op.matrix().matrix_bytes())), rows);
  const double bandwidth = race.bandwidth().median;
  const double crs_roofline = bandwidth / balance * 1e-9;
  const double stored_roofline = bandwidth / bytes * 2 * nonzeros * 1e-9;

  Json modes;
  for (std::size_t m = 0; m < options.modes.size(); ++m)
    modes[options.modes[m]] = mode_report(race.seconds(m), nonzeros, crs_roofline, stored_roofline);
  Json report = collective_start_report(job, "spmv");
  report_matrix(system, report);
  report["method"] = "spmv";
  report["mode"] = fmt::format("{}", fmt::join(options.modes, ","));
  report["repetitions"] = options.repetitions;
  report["bits_equal"] = race.bits_are_equal();
  report["modes"] = modes;
  report["performance"] = {
      {"matrix_format", op.matrix().format_name()},
      {"boundary_row_fraction",
       static_cast<double>(job.world().sum(op.matrix().boundary_row_count())) / rows},
      {"load_bandwidth_gb_per_second", bandwidth * 1e-9},
      {"load_bandwidth_spread_gb_per_second", race.bandwidth().spread * 1e-9},
      {"crs_code_balance_bytes_per_flop", balance},
      {"crs_roofline_gflops", crs_roofline},
      {"model_bytes", bytes},
      {"roofline_gflops", stored_roofline}};
  add_storage_times(op.matrix().storage_times(), report["performance"]);
  return report;
}

void print_spmv_summary(const Json& report) {
  const Json& performance = report["performance"];
  print_matrix(report);
  fmt::print("run          {}, {}, {:.1f} % boundary rows\n", ranks_and_threads(report),
             storage_phrase(performance), 100 * number(performance["boundary_row_fraction"]));
  fmt::print("bandwidth    {:.1f} GB/s load, measured in turn with the modes\n",
             performance["load_bandwidth_gb_per_second"]);
  fmt::print("roofline     {:.2f} GFLOP/s for CRS ({:.2f} bytes per flop), {:.2f} as stored\n\n",
             performance["crs_roofline_gflops"], performance["crs_code_balance_bytes_per_flop"],
             performance["roofline_gflops"]);
  fmt::print("{:<14}{:>12}{:>12}{:>12}{:>16}{:>16}\n", "mode", "ms", "spread ms", "GFLOP/s",
             "of CRS roof", "of own roof");
  for (const auto& [mode, times] : report["modes"].items())
    fmt::print("{:<14}{:>12.4f}{:>12.4f}{:>12.2f}{:>14.0f} %{:>14.0f} %\n", mode,
               1e3 * number(times["seconds"]), 1e3 * number(times["spread"]), times["gflops"],
               100 * number(times["crs_roofline_fraction"]),
               100 * number(times["roofline_fraction"]));
  if (performance["model_bytes"].get<double>() < small_problem_bytes)
    fmt::print("\nThe data may fit into the caches: fractions of a memory roofline mean little.\n");
  fmt::print("\n{}\n", report["bits_equal"].get<bool>()
                           ? "All modes gave the same bits."
                           : "THE MODES GAVE DIFFERENT BITS: this is a defect of weft.");
  print_findings(report);
}

int measure(const comm_thread::MpiSession& session, SpmvOptions options) {
  const perfmodel::Stopwatch watch;
  remove_repetitions(options.modes);
  const auto problem = spmv::Problem::parse(options.problem);
  options.order = options.order_of(problem);
  Job job = collective_start_job(session, options);
  RunOutput output(job, options);
  library::MemoryForecast forecast =
      library::collective_forecast_system(job.world(), problem, options, false);
  forecast.parts.push_back({"bandwidth", library::ModeRace::bandwidth_bytes(job)});
  if (options.is_dry_run)
    return collective_show_forecast(job, output.file, "spmv", problem.name(), forecast);
  library::collective_check_memory(job, problem.name(), forecast);
  const auto system = collective_make_system(job, problem, options, false, false);
  const Json ordering = ordering_report(system->ordering());
  spmv::SparseOperator& op = *system->matrix_operator();
  const double setup_seconds = watch.seconds();
  std::vector<Mode> modes;
  for (const std::string& mode : options.modes) modes.push_back(*spmv::parse_mode(mode));
  library::collective_settle_storage(job, op);
  library::ModeRace race(job, op, modes, true);
  output.timeline.collective_start();
  race.collective_run(options.repetitions);
  Json report = collective_spmv_report(job, *system, options, race);
  if (!ordering.is_null()) report["ordering"] = ordering;
  report["seconds"] = {{"total", watch.seconds()}, {"setup", setup_seconds}};
  collective_finish_run(job, output, forecast, nullptr, 0, report, print_spmv_summary);
  return race.bits_are_equal() ? 0 : exit_code_bits_differ;
}

}  // namespace

void add_spmv_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code) {
  const auto options = std::make_shared<SpmvOptions>();
  CLI::App& command = *program.add_subcommand("spmv", "time y = A x in each mode, in turn");
  add_problem_option(command, *options).required();
  add_choices(command, "--mode", options->modes, spmv::mode_names(), "modes, separated by commas");
  add_count(command, "--repetitions", options->repetitions, 1, 1000000, "timed products per mode");
  show_in_help(command, library::OptionGroup::run, {"--mode", "--repetitions"});
  bind_options(command, *options, library::matrix_options());
  add_dry_run_option(command, *options);
  add_job_options(command, *options);
  add_trace_option(command, *options);
  command.footer(
      "Examples:\n"
      "  weft spmv poisson3d:200\n"
      "  weft spmv matrix.mtx.gz --mode vector,task --repetitions 50 --json spmv.json\n"
      "  weft spmv irregular:1000000,nnzr=15 --format crs --threads 2\n"
      "  weft spmv holstein-hubbard:phonons=10,basis=HMEp --mode vector,task\n"
      "  mpiexec.mpich -n 2 weft spmv matrix.mtx.gz --order rcm --partition metis");
  command.callback([options, &session, &exit_code] { exit_code = measure(session, *options); });
}

}  // namespace weft::tools
