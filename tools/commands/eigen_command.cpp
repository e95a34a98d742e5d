#include "tools/commands/eigen_command.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/options/eigen_settings.h"
#include "library/options/matrix_settings.h"
#include "library/solve/solvable_system.h"
#include "library/system/eigen_search.h"
#include "library/system/linear_system.h"
#include "library/system/memory_forecast.h"
#include "library/system/search_forecast.h"
#include "perfmodel/stopwatch.h"
#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "tools/job/effective_options.h"
#include "tools/job/exit_codes.h"
#include "tools/job/job_report.h"
#include "tools/job/option_binding.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/reporting/run_output.h"
#include "tools/system/job_checkpoints.h"
#include "tools/system/memory_report.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

struct EigenCommand : SystemOptions, library::EigenSettings {
  EigenCommand() { order.clear(); }

  std::string vectors_path;
  CheckpointOptions checkpoints;
};

Json pairs_report(const solver::EigenReport& found) {
  Json pairs = Json::array();
  for (const solver::EigenPair& pair : found.pairs)
    pairs.push_back(
        {{"value", pair.value}, {"residual", pair.residual}, {"error_bound", pair.error_bound}});
  return pairs;
}

/// All but the times. Collective.
Json collective_eigen_report(const Job& job, const library::LinearSystem& system,
                             const EigenCommand& options, const solver::EigenReport& found) {
  Json report = collective_start_report(job, "eigen");
  report_matrix(system, report);
  report["method"] = found.method;
  report["why_method"] = found.why_method;
  if (!options.mass.empty()) report["mass"] = options.mass;
  if (options.preconditioner != "none") report["preconditioner"] = options.preconditioner;
  report["mode"] = spmv::name(options.search.mode);
  report["status"] = name(found.status);
  if (!found.explanation.empty()) report["explanation"] = found.explanation;
  report["eigenvalues"] = {{"which", options.search.interval ? library::interval_of(options.search)
                                                             : library::which_of(options.search)},
                           {"pairs", pairs_report(found)},
                           {"complete", found.completeness.is_shown},
                           {"statement", found.completeness.statement},
                           {"why", found.completeness.why},
                           {"missing", found.completeness.missing},
                           {"certificate_bytes", found.completeness.bytes},
                           {"orthogonality", found.orthogonality},
                           {"norm", found.norm},
                           {"products", found.products},
                           {"restarts", found.restarts},
                           {"blocks", found.blocks},
                           {"degree", found.degree},
                           {"width", found.width},
                           {"subspace", found.subspace}};
  return report;
}

void print_summary(const Json& report, const solver::EigenReport& found) {
  print_matrix(report);
  fmt::print("run          {}, {}, {}, blocks of {}, search space of {} vectors\n", found.method,
             report["mode"].get<std::string>(), ranks_and_threads(report), found.width,
             found.subspace);
  const std::string with = report.contains("preconditioner")
                               ? " with " + report["preconditioner"].get<std::string>()
                               : "";
  fmt::print("method       {}{}: {}\n", found.method, with, found.why_method);
  fmt::print("result       {} after {} products and {}\n", name(found.status), found.products,
             found.degree > 0
                 ? fmt::format("{} restarts, filter of degree {}", found.restarts, found.degree)
                 : fmt::format("{} steps", found.restarts));
  if (report.contains("explanation")) fmt::print("             {}\n", report["explanation"]);
  const Json& seconds = report["seconds"];
  fmt::print("time         {:.3f} s: set-up {:.3f} s, search {:.3f} s, certificate {:.3f} s\n",
             seconds["total"].get<double>(), seconds["setup"].get<double>(),
             seconds["search"].get<double>(), seconds["certificate"].get<double>());
  fmt::print("{}\n", peak_memory(report));
  if (!found.pairs.empty())
    fmt::print("{:>5}{:>26}{:>14}{:>14}\n", "", "eigenvalue", "residual", "error bound");
  for (std::size_t i = 0; i < found.pairs.size(); ++i)
    fmt::print("{:>5}{:>26.15g}{:>14.2e}{:>14.2e}\n", i + 1, found.pairs[i].value,
               found.pairs[i].residual, found.pairs[i].error_bound);
  fmt::print("\n{}: {}\n", found.completeness.statement, found.completeness.why);
}

/// Writes the vectors as columns. Collective.
void collective_write_vectors(const library::LinearSystem& system,
                              const library::EigenSearch& search, std::size_t count,
                              const EigenCommand& options) {
  std::vector<std::vector<double>> vectors;
  for (std::size_t number = 0; number < count; ++number)
    vectors.push_back(search.collective_vector(static_cast<int>(number)));
  if (count > 0) system.collective_write({vectors.begin(), vectors.end()}, options.vectors_path);
}

/// Throws where options contradict each other, and chooses the order of the rows.
void settle(const CLI::App& command, const spmv::Problem& problem, EigenCommand& options) {
  options.check_search();
  options.choose_preconditioner();
  options.checkpoints.check(command);
  // Other files have the rows as given.
  const bool needs_given =
      options.chosen_method() == solver::EigenMethod::lobpcg || !options.start.empty();
  options.order =
      options.order.empty() && needs_given ? std::string("given") : options.order_of(problem);
}

int search(const comm_thread::MpiSession& session, const CLI::App& command, EigenCommand options) {
  const perfmodel::Stopwatch watch;
  const auto problem = spmv::Problem::parse(options.problem);
  settle(command, problem, options);
  Job job = collective_start_job(session, options);
  RunOutput output(job, options);
  if (!options.vectors_path.empty())
    spmv::collective_check_vector_output(job.world(), options.vectors_path);
  library::MemoryForecast forecast = library::collective_forecast_search(
      job.world(), problem, options,
      {.keeps_checkpoints = options.checkpoints.is_used(),
       .counts_certificate = options.is_dry_run && job.is_root()});
  if (options.is_dry_run)
    return collective_show_forecast(job, output.file, "eigen", problem.name(), forecast);
  library::collective_check_memory(job, problem.name(), forecast);
  const auto system = collective_make_system(job, problem, options, false);
  JobCheckpoints checkpoints(job, options.checkpoints, true);
  library::EigenSearch lookup(*system, options, checkpoints.get());
  options.preconditioner = lookup.preconditioner();
  const double setup_seconds = watch.seconds();
  output.timeline.collective_start();
  solver::EigenReport found = lookup.collective_solve();
  checkpoints.finish(found.status, found.explanation);
  if (!options.vectors_path.empty())
    collective_write_vectors(*system, lookup, found.pairs.size(), options);
  Json report = collective_eigen_report(job, *system, options, found);
  const Json ordering = ordering_report(system->ordering());
  if (!ordering.is_null()) report["ordering"] = ordering;
  report["seconds"] = {{"total", watch.seconds()},
                       {"setup", setup_seconds},
                       {"search", found.seconds},
                       {"certificate", lookup.certificate_seconds()}};
  if (job.is_root()) forecast.parts.push_back({"certificate", found.completeness.bytes});
  collective_finish_run(job, output, forecast, &checkpoints, found.seconds, report,
                        [&](const Json& all) { print_summary(all, found); });
  return checkpoints.exit_code(found.status);
}

}  // namespace

void add_eigen_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code) {
  const auto options = std::make_shared<EigenCommand>();
  CLI::App& command = *program.add_subcommand(
      "eigen", "eigenvalues of a symmetric matrix: from its ends, near a number, in an interval");
  add_problem_option(command, *options).required();
  bind_options<library::EigenSettings>(command, *options, library::eigen_options());
  command
      .add_option("--vectors", options->vectors_path,
                  "writes the eigenvectors, as columns: .mtx, .npy, .petsc, .h5")
      ->type_name("FILE");
  show_in_help(command, library::OptionGroup::output, {"--vectors"});
  add_checkpoint_options(command, options->checkpoints, " or\n--max-seconds",
                         "and threads, with the same bits");
  bind_options(command, *options, library::matrix_options());
  add_dry_run_option(command, *options);
  add_job_options(command, *options);
  add_trace_option(command, *options);
  command.footer(
      "Thick-restart block Lanczos on a Chebyshev filter, or LOBPCG with any preconditioner; the\n"
      "same bits on any ranks and threads.\n"
      "Examples:\n"
      "  weft eigen poisson3d:60 --count 10\n"
      "  weft eigen holstein-hubbard:phonons=8 --count 10 --threads 2\n"
      "  weft eigen anderson3d:20,W=16 --count 10 --which near:0\n"
      "  weft eigen elasticity3d:30x15x15 --mass consistent --preconditioner amg --count 6\n"
      "  mpiexec.mpich -n 4 weft eigen matrix.mtx.gz --which largest --vectors modes.npy\n"
      "  weft eigen poisson3d:100 --count 50 --checkpoint state --max-seconds 3600\n"
      "Exit code: 0 all found, 2 bad input, 3 not all within the tolerance, 6 out of time,\n"
      "128 + N: ended by signal N; the pairs within the tolerance are shown.");
  command.callback([options, &command, &session, &exit_code] {
    exit_code = search(session, command, *options);
  });
}

}  // namespace weft::tools
