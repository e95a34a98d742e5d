#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "library/options/eigen_settings.h"
#include "library/options/matrix_settings.h"
#include "library/system/search_simulation.h"
#include "perfmodel/stopwatch.h"
#include "spmv/problems/problem.h"
#include "tools/commands/simulation_options.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/reporting/report_table.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

struct SimulateEigenOptions : SystemOptions, library::SearchSimulationSettings {
  MachineOptions described;
  std::string real_problem;  // empty: that of the command
};

void print_simulate_eigen_summary(const Json& report) {
  const Json& simulation = report["simulation"];
  const Json& search = simulation["search"];
  fmt::print("problem      {}: {} rows\n", simulation["problem"], simulation["rows"]);
  fmt::print("search       {}: {} rows, {} after {} products and {} restarts\n",
             simulation["real_problem"], search["rows"], search["status"], search["products"],
             search["restarts"]);
  print_machine(simulation["machine"]);
  print_table({column("ranks", 8, "/simulated_ranks"), column("mode", 9, "/mode"),
               column("seed", 6, "/seed"), column("seconds", 11, "/seconds", "{:.4g}"),
               column("speedup", 10, "/speedup", "{:.1f}"),
               column("products", 10, "/shares/products", "{:.1f}%", 100),
               column("halos", 8, "/shares/halo_wait", "{:.1f}%", 100),
               column("vectors", 9, "/shares/vectors", "{:.1f}%", 100),
               column("sums", 8, "/shares/sum_wait", "{:.1f}%", 100),
               column("dense", 8, "/shares/dense", "{:.1f}%", 100),
               column("MB a rank", 11, "/most_bytes", "{:.3g}", 1e-6),
               column("wall s", 8, "/wall_seconds", "{:.2f}")},
              simulation["runs"]);
}

int simulate(const comm_thread::MpiSession& session, SimulateEigenOptions options) {
  const perfmodel::Stopwatch watch;
  options.check_search();
  options.machine = options.described.parsed();
  const auto problem = spmv::Problem::parse(options.problem);
  const auto real =
      options.real_problem.empty() ? problem : spmv::Problem::parse(options.real_problem);
  Job job = collective_start_job(session, options);
  collective_expect_one_rank(job, "simulate");
  const ReportFile report_file(job, options.json_path);
  const auto system = collective_make_system(job, real, options.eigen, false);
  const auto recorded = library::collective_record_search(*system, options.eigen);
  Json runs = library::simulated_searches(options, problem, *system, recorded);
  collective_finish_simulation(job, report_file, "eigen", watch.seconds(),
                               {{"machine", machine_report(options.machine)},
                                {"problem", problem.name()},
                                {"rows", problem.is_file() ? recorded.rows : problem.row_count()},
                                {"real_problem", real.name()},
                                {"search", library::search_json(recorded)},
                                {"runs", std::move(runs)}},
                               print_simulate_eigen_summary);
  return 0;
}

}  // namespace

void add_simulate_eigen(CLI::App& simulate_app, const comm_thread::MpiSession& session,
                        int& exit_code) {
  const auto options = std::make_shared<SimulateEigenOptions>();
  CLI::App& command = *simulate_app.add_subcommand(
      "eigen", "thick-restart Lanczos for eigenvalues from one end, on more and more ranks");
  add_problem_option(command, *options).required();
  command
      .add_option("--real-problem", options->real_problem,
                  "smaller one that is really searched, once; the ranks repeat its steps")
      ->type_name("PROBLEM");
  command.add_option("--simulated-ranks", options->rank_counts, "ranks of the simulated runs")
      ->delimiter(',')
      ->check(is_count(1, 1 << 20))
      ->type_name("COUNT,...")
      ->capture_default_str();
  add_choices(command, "--modes", options->modes, {"vector", "overlap", "task"},
              "when the halo travels");
  bind_options<library::EigenSettings>(
      command, options->eigen, library::eigen_options(),
      {"count", "which", "tolerance", "block", "subspace", "degree", "max-restarts"});
  bind_options<library::MatrixSettings>(command, options->eigen, library::matrix_options(),
                                        {"triangle", "base"});
  add_seeds(command, options->seed, options->seed_count);
  add_machine_options(command, options->described);
  add_point_options(command, options->described);
  add_flop_options(command, options->described);
  add_job_options(command, *options);
  show_in_help(command, library::OptionGroup::problem, {"--real-problem", "--simulated-ranks"});
  show_in_help(command, library::OptionGroup::run, {"--machine", "--modes"});
  command.footer(
      "Examples:\n"
      "  weft simulate eigen anderson3d:60,W=8 --count 10 --simulated-ranks 1,32,1024\n"
      "  weft simulate eigen holstein-hubbard --real-problem holstein-hubbard:phonons=8\n"
      "  weft simulate eigen matrix.mtx.gz --simulated-ranks 1,16,256");
  command.callback([options, &session, &exit_code] { exit_code = simulate(session, *options); });
}

}  // namespace weft::tools
