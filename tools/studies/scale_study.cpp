#include <array>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/channels/transport_choice.h"
#include "perfmodel/stopwatch.h"
#include "solver/simulation/jacobi_simulation.h"
#include "tools/commands/simulation_options.h"
#include "tools/job/job_report.h"
#include "tools/job/option_binding.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/studies/study.h"

namespace weft::tools {
namespace {

using solver::SimulatedVariant;

/// A row of a published table.
struct Published {
  int ranks;
  SimulatedVariant variant;
  double mean_iterations;
  double seconds;
};

/// Bethune et al. 2012, table 1 (HECToR, MPI). The table says 8912 where the text has powers of
/// two.
constexpr std::array<Published, 12> table_1{{{32, SimulatedVariant::sync, 9100, 28.4},
                                             {32, SimulatedVariant::async, 11245, 33.8},
                                             {32, SimulatedVariant::racy, 9307, 27.7},
                                             {512, SimulatedVariant::sync, 37500, 132.1},
                                             {512, SimulatedVariant::async, 44776, 146.9},
                                             {512, SimulatedVariant::racy, 38763, 126.4},
                                             {8192, SimulatedVariant::sync, 68500, 247.1},
                                             {8192, SimulatedVariant::async, 82381, 272.5},
                                             {8192, SimulatedVariant::racy, 77952, 264.9},
                                             {32768, SimulatedVariant::sync, 112000, 405.2},
                                             {32768, SimulatedVariant::async, 136337, 454.4},
                                             {32768, SimulatedVariant::racy, 118967, 419.4}}};

/// Table 2, SHMEM. Of 32768 processes the paper says that "the performance drops off dramatically",
/// by the network's software.
constexpr std::array<Published, 12> table_2{{{32, SimulatedVariant::sync, 9100, 27.6},
                                             {32, SimulatedVariant::async, 9136, 26.7},
                                             {32, SimulatedVariant::racy, 9088, 26.3},
                                             {512, SimulatedVariant::sync, 37500, 130.1},
                                             {512, SimulatedVariant::async, 38285, 117.9},
                                             {512, SimulatedVariant::racy, 38416, 117.9},
                                             {8192, SimulatedVariant::sync, 68500, 251.5},
                                             {8192, SimulatedVariant::async, 67417, 215.5},
                                             {8192, SimulatedVariant::racy, 70087, 219.3},
                                             {32768, SimulatedVariant::sync, 112000, 491.1},
                                             {32768, SimulatedVariant::async, 229266, 858.5},
                                             {32768, SimulatedVariant::racy, 231919, 817.6}}};

/// What was published of a transport.
struct PublishedTable {
  int number;
  std::span<const Published> rows;

  const Published* row(int ranks, SimulatedVariant variant) const {
    for (const Published& each : rows)
      if (each.ranks == ranks && each.variant == variant) return &each;
    return nullptr;
  }
};

PublishedTable published_table(const comm_thread::TransportChoice& transport) {
  if (transport.kind == comm_thread::TransportKind::two_sided) return {1, table_1};
  if (transport.kind == comm_thread::TransportKind::shmem) return {2, table_2};
  return {0, {}};
}

struct ScaleStudyOptions : SystemOptions {
  MachineOptions machine;
  std::vector<int> ranks{32, 512};
  std::string transport = "two-sided";
  solver::JacobiSimulationOptions jacobi;
};

/// Published values beside the simulated ones; null where the table has no such row. The ratios are
/// those of seconds to seconds of sync.
Json compared(const Json& run, const Json& sync, const PublishedTable& table) {
  const double ratio = run["seconds"].get<double>() / sync["seconds"].get<double>();
  Json result = {{"ratio_to_sync", ratio}, {"published", nullptr}};
  const int ranks = run["simulated_ranks"].get<int>();
  const Published* const row =
      table.row(ranks, solver::simulated_variant(run["variant"].get<std::string>()));
  const Published* const sync_row = table.row(ranks, SimulatedVariant::sync);
  if (!row || !sync_row) return result;
  const double published_ratio = row->seconds / sync_row->seconds;
  result["published"] = {{"source", fmt::format("Bethune et al. 2012, table {}, {} processes, {}",
                                                table.number, ranks, run["variant"])},
                         {"iterations", row->mean_iterations},
                         {"seconds", row->seconds},
                         {"ms_per_iteration", 1e3 * row->seconds / row->mean_iterations},
                         {"ratio_to_sync", published_ratio},
                         {"simulated_to_published", ratio / published_ratio}};
  return result;
}

void print_scale_study(const Json& report) {
  const Json& study = report["study"];
  print_studied(report);
  fmt::print(
      "values       {}^3 points a rank for {}^3: fewer sweeps than published, so compare "
      "ratios\n\n",
      study["real_points"], study["points"]);
  print_table({column("ranks", 7, "/simulated_ranks"), column("variant", 8, "/variant"),
               column("seconds", 11, "/seconds", "{:.4g}"),
               column("sweeps", 11, "/iterations/mean", "{:.1f}"),
               ratio_column("ms per sweep", 13, "/seconds", "/iterations/mean", "{:.4g}", 1e3),
               column("to sync", 10, "/ratio_to_sync", "{:.3f}"), line_column(),
               column("seconds", 9, "/published/seconds", "{:.1f}"),
               column("ms per sweep", 13, "/published/ms_per_iteration", "{:.4g}"),
               column("to sync", 10, "/published/ratio_to_sync", "{:.3f}"),
               column("sim./pub.", 11, "/published/simulated_to_published", "{:.3f}")},
              study["runs"]);
}

StudyResult collective_study(const Job& job, const ScaleStudyOptions& options,
                             solver::JacobiSimulationOptions jacobi) {
  collective_expect_one_rank(job, "study scale");
  jacobi.thread_count = job.team().thread_count();
  const PublishedTable table = published_table(jacobi.transport);
  Json runs = Json::array();
  for (const int ranks : options.ranks) {
    Json sync;
    for (const SimulatedVariant variant :
         {SimulatedVariant::sync, SimulatedVariant::async, SimulatedVariant::racy}) {
      jacobi.rank_count = ranks;
      jacobi.variant = variant;
      const perfmodel::Stopwatch run_watch;
      Json run = simulation_report(jacobi, solver::simulate_jacobi(jacobi), run_watch.seconds());
      if (variant == SimulatedVariant::sync) sync = run;
      run.update(compared(run, sync, table));
      runs.push_back(std::move(run));
    }
  }
  return {{{"method", "jacobi"}},
          {{"parameter", "scale"},
           {"machine", machine_report(jacobi.machine)},
           {"transport", options.transport},
           {"points", jacobi.points},
           {"real_points", jacobi.real_points},
           {"runs", std::move(runs)}}};
}

int study(const comm_thread::MpiSession& session, const CLI::App& /*command*/,
          const ScaleStudyOptions& options) {
  solver::JacobiSimulationOptions jacobi = options.jacobi;
  jacobi.machine = options.machine.parsed();
  jacobi.transport = comm_thread::transport_choice(options.transport);
  return collective_run_study(
      session, options, [&](const Job& job) { return collective_study(job, options, jacobi); },
      print_scale_study);
}

void add_options(CLI::App& command, ScaleStudyOptions& options) {
  add_list(command, "--simulated-ranks", options.ranks,
           "numbers of ranks; published are 32, 512, 8192 and 32768", "COUNT,...")
      ->check(is_count(1, 1 << 20));
  command.add_option("--tolerance", options.jacobi.tolerance, "relative residual to reach")
      ->check(is_number(library::any_above_zero))
      ->capture_default_str();
  add_count(command, "--real-points", options.jacobi.real_points, 1, 64,
            "points per direction that are really swept for a rank's 50");
  add_transport(command, options.transport);
  command.add_option("--seed", options.jacobi.seed, "of everything that is random")
      ->capture_default_str();
  add_machine_options(command, options.machine);
  add_point_options(command, options.machine);
  add_poll_interval(command, options.machine);
  add_job_options(command, options);
}

}  // namespace

void add_scale_study(const StudyProgram& program) {
  program.add<ScaleStudyOptions>(
      "scale", "simulated weak scaling of Jacobi sweeps, beside published values");
}

}  // namespace weft::tools
