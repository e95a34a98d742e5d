#include "library/system/search_simulation.h"

#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/system/eigen_search.h"
#include "library/system/expected_symmetry.h"
#include "perfmodel/stopwatch.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/simulation/eigen_simulation.h"
#include "solver/simulation/halo_graph.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;

/// What a rank keeps of the search and of the matrix.
double most_bytes(const SearchSimulationSettings& settings, const RecordedSearch& recorded,
                  const solver::HaloGraph& graph) {
  const auto rows = static_cast<double>(graph.row_count());
  const double of_row = (search_bytes(settings.eigen, rows, 1) +
                         recorded.bytes_per_nonzero * static_cast<double>(graph.nonzero_count())) /
                        rows;
  return of_row * static_cast<double>(graph.most_rows());
}

Json run_report(const solver::HaloGraph& graph, const solver::EigenSimulationOptions& options,
                const solver::EigenSimulationResult& result) {
  const solver::EigenSimulationResult::Shares& shares = result.shares;
  return {{"mode", spmv::name(options.mode)},
          {"simulated_ranks", graph.rank_count()},
          {"ranks_with_rows", graph.busy_rank_count()},
          {"most_rows", graph.most_rows()},
          {"seed", options.seed},
          {"seconds", result.seconds},
          {"restart_seconds", result.space_seconds},
          {"shares",
           {{"products", shares.product},
            {"halo_wait", shares.halo_wait},
            {"vectors", shares.pass},
            {"sum_wait", shares.sum_wait},
            {"dense", shares.dense}}},
          {"products", result.products},
          {"block_products", result.block_products},
          {"sums", result.sums},
          {"restarts", result.restarts},
          {"halo_messages", result.halo_messages},
          {"sum_messages", result.sum_messages},
          {"message_bytes", result.message_bytes}};
}

/// Adds how much quicker each run is than that of the first number of ranks with its mode and seed.
void compare(Json& runs) {
  for (Json& run : runs)
    for (const Json& first : runs) {
      if (first["mode"] != run["mode"] || first["seed"] != run["seed"]) continue;
      const double speedup = first["seconds"].get<double>() / run["seconds"].get<double>();
      run["speedup"] = speedup;
      run["efficiency"] =
          speedup * first["simulated_ranks"].get<double>() / run["simulated_ranks"].get<double>();
      break;
    }
}

/// Of a file the rows are those that were searched.
solver::HaloGraph graph_of(const spmv::Problem& problem, const LinearSystem& system,
                           int rank_count) {
  if (problem.is_file() && problem.path == system.problem().path)
    return {system.matrix_operator()->matrix().matrix(), rank_count};
  return {problem, rank_count};
}

}  // namespace

void SearchSimulationSettings::check_search() const {
  eigen.check_search();
  if (eigen.search.part == solver::SpectrumPart::both ||
      eigen.chosen_method() != solver::EigenMethod::lanczos)
    throw InputError(option_name("which", which_of(eigen.search)) +
                     ": found a search that is not simulated; expected smallest or largest");
}

RecordedSearch collective_record_search(LinearSystem& system, const EigenSettings& settings) {
  collective_expect_symmetry(system);
  spmv::SparseOperator& op = *system.matrix_operator();
  RecordedSearch recorded;
  recorded.rows = op.global_row_count();
  if (recorded.rows <= solver::whole_rows)
    throw InputError(fmt::format("{}: found {} rows, which are solved whole; expected more than {}",
                                 system.name(), recorded.rows, solver::whole_rows));
  solver::FilteredLanczos lanczos(op, settings.search, {.steps = &recorded.steps});
  recorded.report = lanczos.collective_solve();
  recorded.bytes_per_nonzero =
      system.collective_matrix_bytes() / static_cast<double>(system.nonzero_count());
  return recorded;
}

Json search_json(const RecordedSearch& recorded) {
  const solver::EigenReport& report = recorded.report;
  return {{"rows", recorded.rows},       {"status", name(report.status)},
          {"products", report.products}, {"restarts", report.restarts},
          {"degree", report.degree},     {"width", report.width},
          {"subspace", report.subspace}, {"bytes_per_nonzero", recorded.bytes_per_nonzero},
          {"seconds", report.seconds}};
}

Json simulated_searches(const SearchSimulationSettings& settings, const spmv::Problem& problem,
                        const LinearSystem& system, const RecordedSearch& recorded) {
  Json runs = Json::array();
  for (const int rank_count : settings.rank_counts) {
    const solver::HaloGraph graph = graph_of(problem, system, rank_count);
    for (const std::string& mode : settings.modes)
      for (int seed = 0; seed < settings.seed_count; ++seed) {
        const perfmodel::Stopwatch watch;
        const solver::EigenSimulationOptions options{
            .machine = settings.machine,
            .mode = solver::simulated_mode(mode),
            .bytes_per_nonzero = recorded.bytes_per_nonzero,
            .seed = settings.seed + static_cast<std::uint64_t>(seed)};
        Json run = run_report(graph, options, simulate_eigen(recorded.steps, graph, options));
        run["most_bytes"] = most_bytes(settings, recorded, graph);
        run["wall_seconds"] = watch.seconds();
        runs.push_back(std::move(run));
      }
  }
  compare(runs);
  return runs;
}

}  // namespace weft::library
