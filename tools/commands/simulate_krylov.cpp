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
#include "tools/reporting/report_table.h"

namespace weft::tools {
namespace {

struct SimulateKrylovOptions : SystemOptions {
  MachineOptions machine;
  solver::KrylovSimulationOptions krylov;
  std::vector<std::string> methods;
  std::vector<std::string> modes{"vector", "overlap", "task"};
  int seed_count = 1;
};

void print_simulate_krylov_summary(const Json& report) {
  const Json& simulation = report["simulation"];
  fmt::print("problem      7-point Laplacian, {}^3 points a rank, of which {}^3 are real\n",
             simulation["points"], simulation["real_points"]);
  print_machine(simulation["machine"]);
  Json runs = simulation["runs"];
  for (Json& run : runs) run.erase("status");  // products have none
  print_table({column("ranks", 8, "/simulated_ranks"), column("method", 18, "/method"),
               column("mode", 9, "/mode"), column("seed", 6, "/seed"),
               column("seconds", 12, "/seconds", "{:.4g}"), column("iterations", 12, "/iterations"),
               ratio_column("ms/iteration", 14, "/seconds", "/iterations", "{:.4g}", 1e3),
               column("halo wait", 12, "/halo_wait_fraction", "{:.1f}%", 100),
               column("sum wait", 10, "/sum_wait_fraction", "{:.1f}%", 100),
               column("wall s", 9, "/wall_seconds", "{:.2f}")},
              runs);
}

int simulate(const comm_thread::MpiSession& session, const SimulateKrylovOptions& options,
             const std::string& command) {
  const perfmodel::Stopwatch watch;
  solver::KrylovSimulationOptions krylov = options.krylov;
  krylov.machine = options.machine.parsed();
  Job job = collective_start_job(session, options);
  collective_expect_one_rank(job, "simulate");
  const ReportFile report_file(job, options.json_path);
  Json runs = Json::array();
  for (const std::string& method : options.methods)
    for (const std::string& mode : options.modes)
      for (int seed = 0; seed < options.seed_count; ++seed) {
        krylov.method = solver::simulated_krylov(method);
        krylov.mode = solver::simulated_mode(mode);
        krylov.seed = options.krylov.seed + static_cast<std::uint64_t>(seed);
        const perfmodel::Stopwatch run_watch;
        const solver::KrylovSimulationResult result = solver::simulate_krylov(krylov);
        runs.push_back(library::krylov_simulation_report(krylov, result, run_watch.seconds()));
      }
  collective_finish_simulation(job, report_file, command, watch.seconds(),
                               {{"machine", machine_report(krylov.machine)},
                                {"points", krylov.points},
                                {"real_points", krylov.real_points},
                                {"tolerance", krylov.tolerance},
                                {"runs", std::move(runs)}},
                               print_simulate_krylov_summary);
  return 0;
}

void add_command(CLI::App& simulate_app, const std::string& name, const std::string& help,
                 const comm_thread::MpiSession& session, int& exit_code) {
  const auto options = std::make_shared<SimulateKrylovOptions>();
  solver::KrylovSimulationOptions& krylov = options->krylov;
  CLI::App& command = *simulate_app.add_subcommand(name, help);
  add_count(command, "--simulated-ranks", krylov.rank_count, 1, 1 << 20,
            "ranks of the simulated run");
  add_count(command, "--points", krylov.points, 1, 10'000,
            "points per direction of a rank's part: what time is charged for");
  add_count(command, "--real-points", krylov.real_points, 1, 64,
            "points per direction that are really computed for it");
  options->methods = {"spmv"};
  if (name == "cg") {
    options->methods = {"cg", "cg-one-reduction", "cg-pipelined"};
    add_choices(command, "--methods", options->methods, {"cg", "cg-one-reduction", "cg-pipelined"},
                "variants of conjugate gradients");
    command.add_option("--tolerance", krylov.tolerance, "relative residual to reach")
        ->check(is_number(library::any_above_zero))
        ->capture_default_str();
  }
  add_choices(command, "--modes", options->modes, {"vector", "overlap", "task"},
              "when the halo travels");
  add_count(command, "--max-iterations", krylov.max_iterations, 1, 1'000'000'000,
            "end after so many");
  add_seeds(command, krylov.seed, options->seed_count);
  add_machine_options(command, options->machine);
  add_point_options(command, options->machine);
  add_job_options(command, *options);
  show_in_help(command, library::OptionGroup::problem, {"--simulated-ranks", "--points"});
  show_in_help(command, library::OptionGroup::run, {"--machine", "--modes", "--max-iterations"});
  command.footer("Example:\n  weft simulate " + name +
                 " --simulated-ranks 64 --points 100 --machine odin");
  command.callback(
      [options, name, &session, &exit_code] { exit_code = simulate(session, *options, name); });
}

}  // namespace

void add_simulate_krylov(CLI::App& simulate_app, const comm_thread::MpiSession& session,
                         int& exit_code) {
  add_command(simulate_app, "cg", "conjugate gradients for the 7-point Laplacian", session,
              exit_code);
  add_command(simulate_app, "spmv", "products with the 7-point Laplacian", session, exit_code);
}

}  // namespace weft::tools
