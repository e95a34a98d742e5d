#include "tools/commands/roofline_command.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/options/matrix_settings.h"
#include "library/roofline/bandwidth_survey.h"
#include "library/roofline/block_kernels.h"
#include "library/roofline/kernel_race.h"
#include "library/roofline/problem_kernels.h"
#include "library/roofline/stream_bench.h"
#include "perfmodel/stopwatch.h"
#include "tools/job/counters.h"
#include "tools/job/exit_codes.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/progress_line.h"
#include "tools/job/system_options.h"
#include "tools/roofline/core_report.h"
#include "tools/roofline/roofline_report.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

constexpr int exit_code_measures_nothing = 1;
constexpr double default_tolerance = 0.9;

struct RooflineOptions : SystemOptions, library::MatrixSettings {
  RooflineOptions() { order.clear(); }

  int repetitions = 7;
  std::int64_t array_mebibytes = 0;
  double required = 0;
  std::vector<std::string> kernels;
  bool skips_likwid = false;
};

/// Leaves the kernels whose names begin with one of the words; all where there are no words.
/// Throws comm_thread::InputError where a word begins no name.
void select(std::vector<library::RooflineKernel>& kernels, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const library::RooflineKernel& kernel : kernels) names.push_back(kernel.name);
  for (const std::string& word : words)
    if (std::ranges::none_of(names, [&](const auto& name) { return name.starts_with(word); }))
      throw comm_thread::InputError(
          fmt::format("--kernels: found '{}'; expected one of {}", word, fmt::join(names, ", ")));
  if (words.empty()) return;
  std::erase_if(kernels, [&](const library::RooflineKernel& kernel) {
    return std::ranges::none_of(words,
                                [&](const auto& word) { return kernel.name.starts_with(word); });
  });
}

Json all_loops(const std::vector<double>& elements_per_second) {
  Json loops = Json::array();
  for (const perfmodel::Stream stream : perfmodel::all_streams)
    loops.push_back(stream_report(stream, elements_per_second[static_cast<std::size_t>(stream)]));
  return loops;
}

/// What the parts of this job's cores and its caches give.
Json collective_bandwidth(const Job& job, library::StreamBench& bench) {
  return {{"array_bytes", job.world().sum(static_cast<std::int64_t>(bench.array_bytes()))},
          {"cores",
           bandwidth_report(library::collective_bandwidth_of_cores(job, bench), "cores", "cores")},
          {"numa_domains", bandwidth_report(library::collective_bandwidth_of_domains(job, bench),
                                            "domain", "cores")},
          {"caches", bandwidth_report(library::collective_bandwidth_of_caches(job, bench), "level",
                                      "bytes_per_thread")}};
}

/// Adds bandwidths, what cores do, and the kernels with their verdicts to the report.
void collective_measure(const Job& job, const std::vector<library::RooflineKernel>& kernels,
                        const RooflineOptions& options, Json& report) {
  const Counters counters(job);
  library::StreamBench bench(job, static_cast<std::size_t>(options.array_mebibytes) << 20);
  const double tolerance = options.required > 0 ? options.required : default_tolerance;
  report["tolerance"] = tolerance;
  report["repetitions"] = options.repetitions;
  Json bandwidth = collective_bandwidth(job, bench);
  ProgressLine line(job.is_root() && somebody_watches());
  const auto step = [&line](const char* what) {
    return [&line, what](std::size_t done, std::size_t all) {
      line.show(static_cast<double>(done) / static_cast<double>(all), what);
    };
  };
  library::LikwidComparison likwid{.missing = "--no-likwid"};
  if (!options.skips_likwid)
    likwid = library::collective_likwid_comparison(job, bench, step("loops beside likwid-bench"));
  library::KernelRace race(job, bench, library::second_level_bytes(job));
  const auto results =
      race.collective_run(kernels, options.repetitions, tolerance, step("kernels"));
  line.clear();
  bandwidth["all"] = all_loops(race.elements_per_second());
  bandwidth["peak_gflops"] = race.flops_per_second() * 1e-9;
  report["bandwidth"] = bandwidth;
  report["cores"] = core_rates_report(race.core_rates());
  report["probes"] = probe_report(race.probe_speed());
  report["likwid_bench"] = likwid_report(likwid);
  std::vector<std::string> regions;
  for (const library::KernelResult& result : results) regions.push_back(result.name);
  report["counters"] = counters.collective_report(regions);
  report["kernels"] = Json::array();
  for (const library::KernelResult& result : results)
    report["kernels"].push_back(kernel_report(result, report["counters"]));
  report["blocks"] = library::width_that_suits(results);
  report["below_requirement"] = kernels_below(results, options.required);
}

/// Prints what keeps the command from its purpose; returns its exit code. Collective.
int collective_exit_code(const Job& job, const RooflineOptions& options, const Json& report) {
  std::string faults = zero_counts_as_text(report["counters"]);
  if (options.required > 0 && report["probes"]["fault"].is_string())
    faults += fmt::format("weft roofline: --require {:g} cannot be checked: {}\n", options.required,
                          report["probes"]["fault"]);
  if (job.is_root()) fmt::print(stderr, "{}", faults);
  if (job.world().max(std::int64_t{!faults.empty()}) > 0) return exit_code_measures_nothing;
  return report["below_requirement"].empty() ? 0 : exit_code_below_requirement;
}

int measure(const comm_thread::MpiSession& session, RooflineOptions options) {
  const perfmodel::Stopwatch watch;
  const auto problem = spmv::Problem::parse(options.problem);
  options.order = options.order_of(problem);
  Job job = collective_start_job(session, options);
  const ReportFile report_file(job, options.json_path);
  const auto system = collective_make_system(job, problem, options, false, false);
  const Json ordering = ordering_report(system->ordering());
  spmv::SparseOperator& op = *system->matrix_operator();
  op.changeable_matrix().take_sell(job.team());  // beside the kernel of CRS
  library::ProblemKernels kernels(job, problem, op);
  select(kernels.list(), options.kernels);
  const double setup_seconds = watch.seconds();

  Json report = collective_start_report(job, "roofline");
  report_matrix(*system, report);
  if (!ordering.is_null()) report["ordering"] = ordering;
  collective_measure(job, kernels.list(), options, report);
  report["seconds"] = {{"total", watch.seconds()}, {"setup", setup_seconds}};
  if (report_file.collective_write(report)) {
    print_roofline(report);
    if (report["blocks"] != "") fmt::print("{}\n", report["blocks"]);
    print_ordering(ordering);
    const auto below = report["below_requirement"].get<std::vector<std::string>>();
    if (!below.empty())
      fmt::print("\nbelow the {:g} required: {}\n", options.required, fmt::join(below, ", "));
  }
  return collective_exit_code(job, options, report);
}

void add_measurement_options(CLI::App& command, RooflineOptions& options) {
  command
      .add_option("--require", options.required,
                  "fails where a kernel is below this part of its model\n"
                  "(exit code 4) and its data is in memory; also the limit of `ok`, otherwise 0.9")
      ->check(is_number({.most = 10, .expected = "a number from 0 to 10"}))
      ->type_name("FRACTION")
      ->group(heading_of(library::OptionGroup::run));
  command
      .add_option("--kernels", options.kernels,
                  "only kernels whose names begin so\none of several names, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...")
      ->group(heading_of(library::OptionGroup::run));
  add_count(command, "--repetitions", options.repetitions, 1, 1000000, "timed runs of each kernel")
      .group(heading_of(library::OptionGroup::run));
  command
      .add_option("--array-size", options.array_mebibytes,
                  "MiB of each of a node's three arrays for measuring bandwidth;\n0: eight "
                  "times the last-level caches, at least 512,\nat most a twelfth of free memory")
      ->check(is_count(0, 1 << 20))
      ->type_name("MIB")
      ->capture_default_str();
}

}  // namespace

void add_roofline_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code) {
  const auto options = std::make_shared<RooflineOptions>();
  options->problem = "poisson3d:200";
  CLI::App& command = *program.add_subcommand(
      "roofline", "measure the bandwidth of this node and how close to it the kernels are");
  add_problem_option(command, *options).capture_default_str();
  add_measurement_options(command, *options);
  command.add_flag("--no-likwid", options->skips_likwid, "do not compare with likwid-bench");
  bind_options(command, *options, library::matrix_options());
  add_job_options(command, *options);
  command.footer(
      "Examples:\n"
      "  weft roofline\n"
      "  weft roofline matrix.mtx.gz --json roofline.json\n"
      "  weft roofline poisson3d:200 --kernels crs,cg-residual,cg-direction --require 0.85\n"
      "  likwid-perfctr -C 0-15 -g MEM -m weft roofline matrix.mtx --threads 16\n"
      "Run it as one rank with all cores of the node, or as the job will run.\n"
      "Exit code: 0; 1 counters of a thread do not count, or with --require the probes are held "
      "back; 4 below what --require asks; 2 bad input.");
  command.callback([options, &session, &exit_code] { exit_code = measure(session, *options); });
}

}  // namespace weft::tools
