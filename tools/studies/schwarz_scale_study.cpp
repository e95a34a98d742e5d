#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "perfmodel/stopwatch.h"
#include "solver/simulation/schwarz_simulation.h"
#include "tools/commands/simulation_options.h"
#include "tools/job/job_report.h"
#include "tools/job/option_binding.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/studies/study.h"

namespace weft::tools {
namespace {

/// A column of Yamazaki et al. 2019, table 3.
struct PublishedSchwarz {
  const char* table;
  int tiles_per_side;
  int points;
  double wait_seconds;  // synchronous, MPI_Wait
  double waitall_seconds;
  double async_seconds;
  int sync_iterations;
  int fewest_async;
  int most_async;

  /// The mean of both synchronous runs, which differ by up to 57 %.
  double sync_seconds() const { return (wait_seconds + waitall_seconds) / 2; }
};

constexpr std::array<PublishedSchwarz, 12> table_3{
    {{"3a", 12, 64, 0.616, 0.646, 0.586, 105, 154, 229},
     {"3a", 18, 64, 0.738, 0.670, 0.611, 161, 138, 228},
     {"3a", 24, 64, 0.800, 0.990, 0.741, 196, 206, 278},
     {"3a", 30, 64, 0.982, 1.120, 0.883, 249, 273, 331},
     {"3a", 36, 64, 1.13, 1.10, 1.06, 274, 294, 371},
     {"3a", 42, 64, 1.28, 1.51, 1.28, 284, 345, 449},
     {"3b", 12, 120, 1.75, 1.82, 1.89, 126, 127, 169},
     {"3b", 18, 80, 0.994, 0.879, 0.992, 166, 176, 229},
     {"3b", 24, 60, 1.150, 0.851, 0.669, 193, 155, 275},
     {"3b", 30, 48, 0.631, 0.992, 0.543, 203, 280, 366},
     {"3b", 36, 40, 0.512, 0.477, 0.505, 213, 338, 462},
     {"3b", 48, 30, 0.463, 0.647, 0.413, 273, 414, 635}}};

/// A speedup that a caption states, each variant with its best alpha: of the median run. All but
/// figure 13a are Intel MPI's.
struct Caption {
  const char* figure;
  int tiles_per_side;
  int points;
  double speedup;
};

constexpr std::array<Caption, 4> captions{
    {{"14", 16, 32, 1.2}, {"14", 16, 64, 1.8}, {"14", 16, 96, 1.3}, {"13a", 32, 32, 1.5}}};

struct SchwarzScaleStudyOptions : SystemOptions {
  MachineOptions machine{.machine = "cori-haswell"};
  std::vector<int> sides{12, 18, 24};
  solver::SchwarzSimulationOptions schwarz;
};

Json run_of(solver::SchwarzSimulationOptions schwarz, solver::SimulatedVariant variant) {
  schwarz.variant = variant;
  const perfmodel::Stopwatch watch;
  const solver::SweepSimulationResult result = solver::simulate_schwarz(schwarz);
  return simulation_report(schwarz, result, watch.seconds());
}

/// Both variants, and async relative to sync.
Json simulated(solver::SchwarzSimulationOptions schwarz, int tiles_per_side, int points) {
  schwarz.tiles_per_side = tiles_per_side;
  schwarz.rank_count = tiles_per_side * tiles_per_side;
  schwarz.points = points;
  schwarz.alpha = solver::alpha_of(schwarz);
  const Json sync = run_of(schwarz, solver::SimulatedVariant::sync);
  const Json async = run_of(schwarz, solver::SimulatedVariant::async);
  const double ratio = async["seconds"].get<double>() / sync["seconds"].get<double>();
  return {{"subdomains", tiles_per_side},
          {"points", points},
          {"alpha", schwarz.alpha},
          {"sync", sync},
          {"async", async},
          {"async_to_sync", ratio}};
}

Json compared(const solver::SchwarzSimulationOptions& schwarz, const PublishedSchwarz& column) {
  Json run = simulated(schwarz, column.tiles_per_side, column.points);
  const double published = column.async_seconds / column.sync_seconds();
  const auto [quicker, slower] = std::minmax(column.wait_seconds, column.waitall_seconds);
  run["table"] = column.table;
  run["published"] = {
      {"source",
       fmt::format("Yamazaki et al. 2019, table {}, q = {}", column.table, column.tiles_per_side)},
      {"sync_seconds", column.sync_seconds()},
      {"sync_wait_seconds", column.wait_seconds},
      {"sync_waitall_seconds", column.waitall_seconds},
      {"async_seconds", column.async_seconds},
      {"sync_iterations", column.sync_iterations},
      {"async_iterations", {{"min", column.fewest_async}, {"max", column.most_async}}},
      {"async_to_sync", published},
      {"async_to_slower_sync", column.async_seconds / slower},
      {"async_to_quicker_sync", column.async_seconds / quicker},
      {"simulated_to_published", run["async_to_sync"].get<double>() / published}};
  return run;
}

Json compared(const solver::SchwarzSimulationOptions& schwarz, const Caption& caption) {
  Json run = simulated(schwarz, caption.tiles_per_side, caption.points);
  run["table"] = caption.figure;
  run["published"] = {
      {"source", fmt::format("Yamazaki et al. 2019, caption of figure {}, m = {}", caption.figure,
                             caption.points)},
      {"async_to_sync", 1 / caption.speedup},
      {"simulated_to_published", run["async_to_sync"].get<double>() * caption.speedup}};
  return run;
}

void print_schwarz_scale_study(const Json& report) {
  const Json& study = report["study"];
  print_studied(report);
  fmt::print("values       {}^2 real points a tile\n", study["real_points"]);
  fmt::print(
      "published    Yamazaki et al. 2019, table 3 and captions; sync: mean of MPI_Wait and "
      "MPI_Waitall,\n             and async relative to the slower and the quicker of them\n\n");
  print_table(
      {column("table", 5, "/table"), column("q", 4, "/subdomains"), column("points", 7, "/points"),
       column("sync", 7, "/sync/iterations/max"),
       range_column("async", 11, "/async/iterations/min", "/async/iterations/max"),
       ratio_column("ms sync", 11, "/sync/seconds", "/sync/iterations/mean", "{:.3g}", 1e3),
       ratio_column("ms async", 9, "/async/seconds", "/async/iterations/mean", "{:.3g}", 1e3),
       column("async/s.", 10, "/async_to_sync", "{:.3f}"), line_column(),
       column("sync", 7, "/published/sync_iterations"),
       range_column("async", 8, "/published/async_iterations/min",
                    "/published/async_iterations/max"),
       ratio_column("ms sync", 9, "/published/sync_seconds", "/published/sync_iterations", "{:.3g}",
                    1e3),
       column("async/s.", 11, "/published/async_to_sync", "{:.3f}"),
       range_column("of both", 13, "/published/async_to_slower_sync",
                    "/published/async_to_quicker_sync", "{:.3f}"),
       column("sim./pub.", 11, "/published/simulated_to_published", "{:.3f}")},
      study["runs"]);
}

StudyResult collective_study(const Job& job, const SchwarzScaleStudyOptions& options,
                             const solver::SchwarzSimulationOptions& schwarz) {
  collective_expect_one_rank(job, "study scale-schwarz");
  Json runs = Json::array();
  const auto is_wanted = [&options](const auto& published) {
    return std::ranges::find(options.sides, published.tiles_per_side) != options.sides.end();
  };
  for (const PublishedSchwarz& column : table_3)
    if (is_wanted(column)) runs.push_back(compared(schwarz, column));
  for (const Caption& caption : captions)
    if (is_wanted(caption)) runs.push_back(compared(schwarz, caption));
  return {{{"method", "schwarz"}},
          {{"parameter", "scale-schwarz"},
           {"machine", machine_report(schwarz.machine)},
           {"real_points", schwarz.real_points},
           {"runs", std::move(runs)}}};
}

int study(const comm_thread::MpiSession& session, const CLI::App& /*command*/,
          const SchwarzScaleStudyOptions& options) {
  solver::SchwarzSimulationOptions schwarz = options.schwarz;
  schwarz.machine = options.machine.parsed();
  return collective_run_study(
      session, options, [&](const Job& job) { return collective_study(job, options, schwarz); },
      print_schwarz_scale_study);
}

void add_options(CLI::App& command, SchwarzScaleStudyOptions& options) {
  add_list(command, "--subdomains", options.sides,
           "tiles along each side; published are 12, 18, 24, 30, 36, 42 and 48, and in "
           "captions 16 and 32",
           "COUNT,...")
      ->check(is_count(1, 1024));
  add_count(command, "--real-points", options.schwarz.real_points, 2, 256,
            "points along each side of a tile that are really solved");
  command.add_option("--tolerance", options.schwarz.tolerance, "relative residual of each tile")
      ->check(is_number(library::any_above_zero))
      ->capture_default_str();
  command.add_option("--seed", options.schwarz.seed, "of everything that is random")
      ->capture_default_str();
  add_machine_options(command, options.machine);
  add_tile_options(command, options.machine);
  add_poll_interval(command, options.machine);
  add_job_options(command, options);
}

}  // namespace

void add_schwarz_scale_study(const StudyProgram& program) {
  program.add<SchwarzScaleStudyOptions>(
      "scale-schwarz", "simulated scaling of optimized Schwarz, beside published values");
}

}  // namespace weft::tools
