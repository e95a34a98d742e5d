#include "tools/commands/eigen_command.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/options/matrix_settings.h"
#include "library/solve/ordered_matrix.h"
#include "library/solve/symmetry_check.h"
#include "perfmodel/stopwatch.h"
#include "solver/choice/asymmetry.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/filtered_lanczos.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/order/row_order.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"
#include "tools/job/counters.h"
#include "tools/job/exit_codes.h"
#include "tools/job/job_report.h"
#include "tools/job/option_binding.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/system/linear_system.h"

namespace weft::tools {
namespace {

struct EigenCommand : SystemOptions, library::MatrixSettings {
  EigenCommand() { order.clear(); }

  solver::EigenOptions search;
  std::string which = "smallest";
  std::string mode = "task";
  std::string block = "4";
  std::string vectors_path;
};

/// Refuses a matrix that is not symmetric. Collective.
void collective_expect_symmetry(const Job& job, const spmv::SparseOperator& op,
                                const spmv::Problem& problem, const spmv::RowOrder* order) {
  const auto given_row = [&](spmv::GlobalIndex row) {
    return library::collective_given_row(job.world(), *order, row);
  };
  const auto traits = library::collective_find_given_traits(
      op, order ? library::CollectiveGivenRow(given_row) : nullptr);
  if (traits.asymmetry)
    throw comm_thread::InputError(problem.name() + ": " + traits.asymmetry->text() +
                                  "; expected a symmetric matrix");
}

Json pairs_report(const solver::EigenReport& found) {
  Json pairs = Json::array();
  for (const solver::EigenPair& pair : found.pairs)
    pairs.push_back({{"value", pair.value}, {"residual", pair.residual}});
  return pairs;
}

/// All but the times. Collective.
Json collective_eigen_report(const Job& job, const spmv::DistributedMatrix& matrix,
                             const EigenCommand& options, const spmv::Problem& problem,
                             const solver::EigenReport& found) {
  Json report = collective_start_report(job, "eigen");
  report["problem"] = {{"name", problem.name()},
                       {"rows", matrix.partition.row_count()},
                       {"nonzeros", matrix.global_nonzero_count}};
  report["method"] = "lanczos";
  report["mode"] = options.mode;
  report["status"] = name(found.status);
  report["eigenvalues"] = {{"which", options.which},     {"pairs", pairs_report(found)},
                           {"norm", found.norm},         {"products", found.products},
                           {"restarts", found.restarts}, {"degree", found.degree},
                           {"width", found.width},       {"subspace", found.subspace}};
  return report;
}

void print_summary(const Json& report, const solver::EigenReport& found) {
  fmt::print("problem      {}: {} rows, {} nonzeros\n",
             report["problem"]["name"].get<std::string>(),
             report["problem"]["rows"].get<std::int64_t>(),
             report["problem"]["nonzeros"].get<std::int64_t>());
  if (report.contains("ordering")) print_ordering(report["ordering"]);
  fmt::print("run          lanczos, {}, {}, blocks of {}, search space of {} vectors\n",
             report["mode"].get<std::string>(), ranks_and_threads(report), found.width,
             found.subspace);
  fmt::print("result       {} after {} products and {} restarts, filter of degree {}\n",
             name(found.status), found.products, found.restarts, found.degree);
  fmt::print("time         {:.3f} s: set-up {:.3f} s, search {:.3f} s\n",
             report["seconds"]["total"].get<double>(), report["seconds"]["setup"].get<double>(),
             report["seconds"]["search"].get<double>());
  fmt::print("{}\n\n", peak_memory(report));
  fmt::print("{:>5}{:>26}{:>14}{:>16}\n", "", "eigenvalue", "residual", "of ||A||");
  for (std::size_t i = 0; i < found.pairs.size(); ++i)
    fmt::print("{:>5}{:>26.15g}{:>14.2e}{:>16.2e}\n", i + 1, found.pairs[i].value,
               found.pairs[i].residual, found.pairs[i].residual / found.norm);
  fmt::print(
      "\nAn eigenvalue lies within its residual of each value. That none between them is missing "
      "is\n"
      "not shown: of more than {} equal ones some may be.\n",
      found.width);
}

/// Writes the vectors as columns, rows as given. Collective.
void collective_write_vectors(const Job& job, const solver::FilteredLanczos& lanczos, int count,
                              const spmv::RowPartition& rows, const spmv::RowOrder* order,
                              const spmv::RowPartition& given, const std::string& path) {
  std::vector<double> own;
  for (int number = 0; number < count; ++number) {
    std::vector<double> vector = lanczos.collective_vector(number);
    if (order) vector = order->collective_undo(vector);
    own.resize(vector.size() * static_cast<std::size_t>(count));
    for (std::size_t row = 0; row < vector.size(); ++row)
      own[row * static_cast<std::size_t>(count) + static_cast<std::size_t>(number)] = vector[row];
  }
  spmv::collective_write_columns_file(job.world(), order ? given : rows, own, count, path);
}

int search(const comm_thread::MpiSession& session, EigenCommand options) {
  const perfmodel::Stopwatch watch;
  const auto problem = spmv::Problem::parse(options.problem);
  options.order = options.order_of(problem);
  options.search.end =
      options.which == "largest" ? solver::SpectrumEnd::largest : solver::SpectrumEnd::smallest;
  options.search.width = std::stoi(options.block);
  options.search.mode = *spmv::parse_mode(options.mode);
  Job job = collective_start_job(session, options);
  const ReportFile report_file(job, options.json_path);
  const Counters counters(job);
  if (!options.vectors_path.empty())
    spmv::collective_check_vector_output(job.world(), options.vectors_path);
  auto loaded = collective_load_ordered_matrix(job, problem, options, MatrixUse::solve);
  const Json ordering = ordering_report(loaded, options);
  const spmv::RowOrder* const order = loaded.order ? &*loaded.order : nullptr;
  spmv::SparseOperator op(job.comm_thread_world(), job.comm_thread(), job.team(),
                          std::move(loaded.matrix), options.parsed_format());
  collective_expect_symmetry(job, op, problem, order);
  solver::FilteredLanczos lanczos(op, options.search);
  const double setup_seconds = watch.seconds();
  const solver::EigenReport found = lanczos.collective_solve();
  if (!options.vectors_path.empty())
    collective_write_vectors(job, lanczos, options.search.count, op.matrix().matrix().partition,
                             order, order ? order->given() : op.matrix().matrix().partition,
                             options.vectors_path);
  Json report = collective_eigen_report(job, op.matrix().matrix(), options, problem, found);
  if (!ordering.is_null()) report["ordering"] = ordering;
  report["seconds"] = {
      {"total", watch.seconds()}, {"setup", setup_seconds}, {"search", found.seconds}};
  collective_report_phases(job, counters, report);
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) print_summary(report, found);
  return found.status == solver::SolveStatus::converged ? 0 : exit_code_not_converged;
}

/// Options that only --help-all shows.
void add_rare_options(CLI::App& command, EigenCommand& options) {
  add_count(command, "--subspace", options.search.subspace, 0, 100000,
            "vectors of the search space; 0: four times --count, at least 40");
  add_count(command, "--degree", options.search.degree, 0, 10000,
            "of the Chebyshev filter; 0: from the spectrum");
  add_count(command, "--max-restarts", options.search.max_restarts, 0, 1000000,
            "of the search space");
  add_choice(command, "--mode", options.mode, spmv::mode_names(), "how products communicate");
}

}  // namespace

void add_eigen_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code) {
  const auto options = std::make_shared<EigenCommand>();
  CLI::App& command =
      *program.add_subcommand("eigen", "eigenvalues of a symmetric matrix, smallest or largest");
  add_problem_option(command, *options).required();
  add_count(command, "--count", options->search.count, 1, 10000, "eigenvalues to find");
  add_choice(command, "--which", options->which, {"smallest", "largest"},
             "end of the spectrum, by value and not by modulus");
  command
      .add_option("--tolerance", options->search.tolerance,
                  "ends where ||A x - theta x|| is below this times ||A||")
      ->check(is_number({.least = 1e-14, .most = 1, .expected = "1e-14 to 1"}))
      ->type_name("FLOAT")
      ->capture_default_str();
  command
      .add_option("--vectors", options->vectors_path,
                  "writes the eigenvectors, as columns: .mtx, .npy, .petsc, .h5")
      ->type_name("FILE");
  add_choice(command, "--block", options->block, {"1", "2", "4", "8"},
             "vectors of a block; equal eigenvalues beyond that may be missed");
  add_rare_options(command, *options);
  show_in_help(command, library::OptionGroup::method,
               {"--count", "--which", "--tolerance", "--block"});
  show_in_help(command, library::OptionGroup::output, {"--vectors"});
  bind_options(command, *options, library::matrix_options());
  add_job_options(command, *options);
  command.footer(
      "Thick-restart block Lanczos on a Chebyshev filter; the same bits on any ranks and threads.\n"
      "Examples:\n"
      "  weft eigen poisson3d:60 --count 10\n"
      "  weft eigen holstein-hubbard:phonons=8 --count 10 --threads 2\n"
      "  mpiexec.mpich -n 4 weft eigen matrix.mtx.gz --which largest --vectors modes.npy\n"
      "Exit code: 0 all found, 2 bad input, 3 not all within the tolerance.");
  command.callback([options, &session, &exit_code] { exit_code = search(session, *options); });
}

}  // namespace weft::tools
