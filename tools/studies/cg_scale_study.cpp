#include "tools/studies/cg_scale_study.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "perfmodel/stopwatch.h"
#include "solver/simulation/krylov_simulation.h"
#include "tools/commands/simulation_options.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"

namespace weft::tools {
namespace {

/// Hoefler et al. 2006, abstract and section 4: "up to 34 %", by which the run with non-blocking
/// exchanges is quicker; section 3.5: the grid. Figure 3 is drawn, without numbers.
constexpr double published_largest_gain = 0.34;
constexpr int published_grid = 800;
/// Fitted to that one number, with odin-gigabit: it gives 30.4 %, more than 1, 1.4 … 1.6 and 2.
/// With products that memory bounds (1), what can hide behind them is a quarter of an iteration at
/// most.
constexpr double fitted_product_passes = 1.7;

struct CgScaleStudyOptions : SystemOptions {
  std::vector<std::string> machines{"odin", "odin-gigabit"};
  std::vector<int> nodes{8, 16, 32, 64, 96};
  solver::KrylovSimulationOptions krylov;
};

Json run_at(solver::KrylovSimulationOptions krylov, int nodes) {
  krylov.rank_count = nodes * krylov.machine.ranks_per_node;
  krylov.points =
      std::max(1, static_cast<int>(std::lround(published_grid / std::cbrt(krylov.rank_count))));
  const auto seconds = [&krylov](solver::SimulatedMode mode) {
    krylov.mode = mode;
    const solver::KrylovSimulationResult result = solver::simulate_krylov(krylov);
    return result.seconds / result.iteration_count;
  };
  const double blocking = seconds(solver::SimulatedMode::vector);
  const double overlapped = seconds(solver::SimulatedMode::task);
  return {{"machine", krylov.machine.name},       {"nodes", nodes},
          {"simulated_ranks", krylov.rank_count}, {"points", krylov.points},
          {"vector_seconds", blocking},           {"task_seconds", overlapped},
          {"gain", blocking / overlapped - 1}};
}

void print_cg_scale_study(const Json& report) {
  const Json& study = report["study"];
  fmt::print("problem      7-point Laplacian, {}^3 points in all, conjugate gradients\n",
             published_grid);
  fmt::print("product      lasts {:.3g} passes over two vectors{}\n\n",
             study["product_passes"].get<double>(),
             study["product_passes"].get<double>() == fitted_product_passes
                 ? ", fitted to the one published number"
                 : "");
  fmt::print("{:>14}{:>8}{:>8}{:>10}{:>16}{:>14}{:>9}\n", "machine", "nodes", "ranks", "points",
             "vector ms/it.", "task ms/it.", "gain");
  for (const Json& run : study["runs"])
    fmt::print("{:>14}{:>8}{:>8}{:>8}^3{:>16.4g}{:>14.4g}{:>8.1f}%\n",
               run["machine"].get<std::string>(), run["nodes"].get<int>(),
               run["simulated_ranks"].get<int>(), run["points"].get<int>(),
               1e3 * run["vector_seconds"].get<double>(), 1e3 * run["task_seconds"].get<double>(),
               100 * run["gain"].get<double>());
  fmt::print("\nlargest gain simulated {:.1f}%, published {:.0f}% ({})\n",
             100 * study["largest_gain"].get<double>(),
             100 * study["published"]["largest_gain"].get<double>(),
             study["published"]["source"].get<std::string>());
}

int study_scale(const comm_thread::MpiSession& session, const CgScaleStudyOptions& options) {
  const perfmodel::Stopwatch watch;
  std::vector<solver::Machine> machines;
  for (const std::string& name : options.machines)
    machines.push_back(solver::machine_by_name(name));
  Job job = collective_start_job(session, options);
  collective_expect_one_rank(job, "study scale-cg");
  const ReportFile report_file(job, options.json_path);
  Json runs = Json::array();
  double largest_gain = 0;
  for (const solver::Machine& machine : machines)
    for (const int nodes : options.nodes) {
      solver::KrylovSimulationOptions krylov = options.krylov;
      krylov.machine = machine;
      runs.push_back(run_at(krylov, nodes));
      largest_gain = std::max(largest_gain, runs.back()["gain"].get<double>());
    }
  Json report = collective_start_report(job, "study");
  report["method"] = "cg";
  report["seconds"] = {{"total", watch.seconds()}};
  report["study"] = {{"parameter", "scale-cg"},
                     {"runs", std::move(runs)},
                     {"product_passes", options.krylov.product_passes},
                     {"largest_gain", largest_gain},
                     {"published",
                      {{"largest_gain", published_largest_gain},
                       {"source", "Hoefler et al. 2006, abstract; 128 nodes, 800^3 points"}}}};
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) print_cg_scale_study(report);
  return 0;
}

}  // namespace

void add_cg_scale_study(CLI::App& study, const comm_thread::MpiSession& session, int& exit_code) {
  const auto options = std::make_shared<CgScaleStudyOptions>();
  CLI::App& command = *study.add_subcommand(
      "scale-cg", "simulated strong scaling of conjugate gradients, beside a published gain");
  command.add_option("--machines", options->machines, "presets, as --machine of weft simulate")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->capture_default_str();
  command.add_option("--nodes", options->nodes, "numbers of nodes; published are 1 to 96")
      ->delimiter(',')
      ->check(is_count(1, 4096))
      ->type_name("COUNT,...")
      ->capture_default_str();
  options->krylov.max_iterations = 20;
  options->krylov.product_passes = fitted_product_passes;
  command
      .add_option("--product-passes", options->krylov.product_passes,
                  "duration of a product, in passes over two vectors; the default is fitted to the "
                  "published gain, 1 where memory bounds it")
      ->check(is_number({.least = 0.1, .most = 100, .expected = "a number from 0.1 to 100"}))
      ->type_name("COUNT")
      ->capture_default_str();
  command
      .add_option("--max-iterations", options->krylov.max_iterations,
                  "of each run; the paper makes 218")
      ->check(is_count(1, 1'000'000))
      ->type_name("COUNT")
      ->capture_default_str();
  command.add_option("--seed", options->krylov.seed, "of everything that is random")
      ->capture_default_str();
  add_job_options(command, *options);
  command.callback([options, &session, &exit_code] { exit_code = study_scale(session, *options); });
}

}  // namespace weft::tools
