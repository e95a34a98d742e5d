#include "tools/commands/compare_command.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/measure/mode_costs.h"
#include "library/measure/mode_race.h"
#include "library/measure/settled_storage.h"
#include "library/options/matrix_settings.h"
#include "library/system/linear_system.h"
#include "perfmodel/stopwatch.h"
#include "perfmodel/traffic_model.h"
#include "spmv/modes/mode.h"
#include "spmv/modes/run_in_mode.h"
#include "spmv/problems/problem.h"
#include "spmv/problems/right_hand_side.h"
#include "tools/job/exit_codes.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/reporting/mode_timeline.h"
#include "tools/reporting/storage_report.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

using perfmodel::Phase;
using spmv::Mode;

struct CompareOptions : SystemOptions, library::MatrixSettings {
  std::vector<std::string> problems;
  std::vector<std::string> modes = spmv::mode_names();
  std::string operator_kind = "matrix";
  int repetitions = 20;

  bool is_matrix_free() const { return operator_kind == "stencil"; }
};

/// What a mode hides: 1 - (t_mode - t_compute) / t_communication; null where nothing is
/// communicated.
Json hidden_fraction(double seconds, const library::MeasuredModeCosts& measured) {
  const double communication = measured.halo_measured_seconds;
  if (communication <= 0) return nullptr;
  return std::clamp(1 - (seconds - measured.costs.product) / communication, 0.0, 1.0);
}

Json collective_phases(const Job& job, const library::ModeRace& race, std::size_t mode) {
  Json phases;
  for (const Phase phase : {Phase::pack, Phase::local_part, Phase::halo_wait, Phase::boundary_part})
    phases[perfmodel::name(phase)] =
        job.world().sum(race.phase_seconds(mode, phase)) / job.world().size();
  return phases;
}

Json costs_report(const library::MeasuredModeCosts& measured) {
  return {{"product_seconds", measured.costs.product},
          {"interior_seconds", measured.costs.interior},
          {"boundary_seconds", measured.costs.boundary},
          {"pack_seconds", measured.costs.pack},
          {"halo_model_seconds", measured.costs.halo},
          {"halo_measured_seconds", measured.halo_measured_seconds},
          {"carrying_seconds", measured.costs.carrying},
          {"messages", measured.messages},
          {"halo_bytes", measured.bytes}};
}

Json collective_mode_report(Job& job, library::LinearSystem& system, const library::ModeRace& race,
                            std::size_t number, Mode mode,
                            const library::MeasuredModeCosts& measured) {
  const perfmodel::Statistics seconds = race.seconds(number);
  return {{"seconds", seconds.median},
          {"spread", seconds.spread},
          {"predicted_seconds", spmv::predicted_seconds(mode, measured.costs)},
          {"hidden_fraction", hidden_fraction(seconds.median, measured)},
          {"gflops", 2e-9 * static_cast<double>(system.nonzero_count()) / seconds.median},
          {"phases", collective_phases(job, race, number)},
          {"timeline", collective_mode_timeline(job, system.op(), mode)}};
}

/// One problem on this job's ranks and threads.
Json collective_compare(Job& job, const CompareOptions& options, const spmv::Problem& problem,
                        bool& bits_are_equal) {
  const auto made = collective_make_system(job, problem, options, options.is_matrix_free());
  library::LinearSystem& system = *made;
  std::vector<Mode> modes;
  for (const std::string& mode : options.modes) modes.push_back(*spmv::parse_mode(mode));
  library::collective_settle_storage(job, system.op());
  const library::MeasuredModeCosts measured =
      library::collective_measure_mode_costs(job, system.op());
  library::ModeRace race(job, system.op(), modes, true);
  race.collective_run(options.repetitions);
  bits_are_equal = bits_are_equal && race.bits_are_equal();

  const double matrix_bytes = system.collective_matrix_bytes();
  const auto rows = static_cast<double>(system.op().global_row_count());
  Json result = {{"problem", problem.name()},
                 {"rows", system.op().global_row_count()},
                 {"nonzeros", system.nonzero_count()},
                 {"ranks", job.world().size()},
                 {"threads", job.team().thread_count()},
                 {"matrix_format", system.format_name()},
                 {"model_bytes", perfmodel::spmv_bytes(matrix_bytes, rows)},
                 {"load_bandwidth_bytes_per_second", race.bandwidth().median},
                 {"link",
                  {{"latency_seconds", measured.link.latency_seconds},
                   {"start_up_seconds", measured.link.start_up_seconds},
                   {"bytes_per_second", measured.link.bytes_per_second}}},
                 {"costs", costs_report(measured)},
                 {"bits_equal", race.bits_are_equal()}};
  add_storage_times(system.storage_times(), result);
  for (std::size_t m = 0; m < modes.size(); ++m)
    result["modes"][options.modes[m]] =
        collective_mode_report(job, system, race, m, modes[m], measured);
  return result;
}

void print_configuration(const Json& configuration) {
  const Json& costs = configuration["costs"];
  fmt::print("\n{}: {} rows, {} nonzeros, {}\n", configuration["problem"], configuration["rows"],
             configuration["nonzeros"], storage_phrase(configuration));
  fmt::print("alone        product {:.4f} ms; halo {:.4f} ms for {} B in {} messages of a rank\n",
             1e3 * number(costs["product_seconds"]), 1e3 * number(costs["halo_measured_seconds"]),
             costs["halo_bytes"], costs["messages"]);
  const Json& link = configuration["link"];
  if (configuration["ranks"].get<int>() > 1)
    fmt::print("link         latency {:.1f} us, {:.1f} us for such a message and {:.4g} MB/s\n",
               1e6 * number(link["latency_seconds"]), 1e6 * number(link["start_up_seconds"]),
               1e-6 * number(link["bytes_per_second"]));
  fmt::print("{:<14}{:>12}{:>12}{:>14}{:>12}{:>10}\n", "mode", "ms", "spread ms", "predicted ms",
             "hidden", "GFLOP/s");
  for (const auto& [mode, times] : configuration["modes"].items()) {
    const Json& hidden = times["hidden_fraction"];
    fmt::print(
        "{:<14}{:>12.4f}{:>12.4f}{:>14.4f}{:>12}{:>10.2f}\n", mode, 1e3 * number(times["seconds"]),
        1e3 * number(times["spread"]), 1e3 * number(times["predicted_seconds"]),
        hidden.is_null() ? "-" : fmt::format("{:.0f} %", 100 * number(hidden)), times["gflops"]);
  }
}

void print_compare_summary(const Json& report, bool bits_are_equal) {
  fmt::print("run          {}\n", ranks_and_threads(report));
  for (const Json& configuration : report["configurations"]) print_configuration(configuration);
  fmt::print("\n{}\n", bits_are_equal ? "All modes gave the same bits."
                                      : "THE MODES GAVE DIFFERENT BITS: this is a defect of weft.");
  print_findings(report);
}

int compare(const comm_thread::MpiSession& session, const CompareOptions& options) {
  const perfmodel::Stopwatch watch;
  library::check_needs(
      {{{"format"}, !options.is_matrix_free(), "with --operator stencil", "a matrix"}},
      library::matrix_options(), options);
  std::vector<spmv::Problem> problems;
  for (const std::string& problem : options.problems)
    problems.push_back(spmv::Problem::parse(problem));
  Job job = collective_start_job(session, options);
  const ReportFile report_file(job, options.json_path);
  bool bits_are_equal = true;
  Json configurations = Json::array();
  for (const spmv::Problem& problem : problems)
    configurations.push_back(collective_compare(job, options, problem, bits_are_equal));
  Json report = collective_start_report(job, "compare");
  report["method"] = "spmv";
  report["mode"] = fmt::format("{}", fmt::join(options.modes, ","));
  report["repetitions"] = options.repetitions;
  report["bits_equal"] = bits_are_equal;
  report["seconds"] = {{"total", watch.seconds()}};
  report["configurations"] = std::move(configurations);
  if (report_file.collective_write(report)) print_compare_summary(report, bits_are_equal);
  return bits_are_equal ? 0 : exit_code_bits_differ;
}

}  // namespace

void add_compare_command(CLI::App& program, const comm_thread::MpiSession& session,
                         int& exit_code) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App& command =
      *program.add_subcommand("compare", "compare the modes with each other and with the model");
  command.add_option("problems", options->problems, "one or more, named as in weft solve")
      ->required()
      ->type_name("PROBLEM...");
  add_choices(command, "--modes", options->modes, spmv::mode_names(), "modes, separated by commas");
  add_operator_option(command, options->operator_kind);
  add_count(command, "--repetitions", options->repetitions, 1, 1000000, "timed products per mode");
  show_in_help(command, library::OptionGroup::problem, {"problems"});
  show_in_help(command, library::OptionGroup::run, {"--modes", "--repetitions"});
  bind_options(command, *options, library::matrix_options(), {"format", "triangle", "base"});
  add_job_options(command, *options);
  command.footer(
      "Examples:\n"
      "  mpiexec.mpich -n 2 weft compare poisson3d:100 irregular:200000\n"
      "  tools/compare poisson3d:200 --ranks 1,2 --threads 1,2 --html modes.html\n"
      "tools/compare runs this over several numbers of ranks and threads and makes one page of "
      "it.");
  command.callback([options, &session, &exit_code] { exit_code = compare(session, *options); });
}

}  // namespace weft::tools
