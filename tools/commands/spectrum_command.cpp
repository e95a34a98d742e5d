#include "tools/commands/spectrum_command.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/options/matrix_settings.h"
#include "library/options/option.h"
#include "library/options/spectrum_settings.h"
#include "library/system/expected_symmetry.h"
#include "library/system/linear_system.h"
#include "library/system/memory_forecast.h"
#include "library/system/vector_map.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/stopwatch.h"
#include "solver/spectrum/chebyshev_moments.h"
#include "solver/spectrum/spectral_density.h"
#include "solver/spectrum/spectrum_report.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "tools/job/effective_options.h"
#include "tools/job/job_report.h"
#include "tools/job/option_binding.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/reporting/run_output.h"
#include "tools/reporting/spectrum_output.h"
#include "tools/system/memory_report.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

struct SpectrumCommand : SystemOptions, library::MatrixSettings, library::SpectrumSettings {
  SpectrumCommand() { order.clear(); }

  std::string output_path;
  std::int64_t site = -1;  // of the local density; -1: none
  std::string vector_path;  // of a spectral function; empty: none
  std::string other_path;  // the second vector; empty: the first

  bool is_of_states() const { return site < 0 && vector_path.empty(); }
  std::string unit() const { return is_of_states() ? "eigenvalues" : "weight"; }
  /// Vectors that moments are taken of.
  int vector_count() const { return is_of_states() ? numbers.vectors : other_path.empty() ? 1 : 2; }
  std::vector<library::Need> needs() const {
    return {
        {{"vector"}, site < 0, "with --site", "one of them"},
        {{"with"}, !vector_path.empty(), "without --vector", "both vectors"},
        {{"vectors", "seed"},
         is_of_states(),
         "with --site or --vector, where nothing is random",
         "one of them"},
    };
  }
};

/// Bytes of the vectors of a block, of this rank. Collective.
double collective_block_bytes(const Job& job, const spmv::Problem& problem,
                              const SpectrumCommand& command,
                              const solver::DensityOptions& options) {
  const library::SystemSize size = library::collective_system_size(job.world(), problem, command);
  const int width = solver::block_width(options, command.vector_count());
  return size.rows / job.world().size() * sizeof(double) *
         solver::ChebyshevMoments::vector_count(width);
}

void print_summary(const Json& report, const solver::SpectrumReport& found) {
  print_matrix(report);
  const Json& spectrum = report["spectrum"];
  const int random = spectrum["vectors"].get<int>();
  fmt::print("run          {} moments of {}, blocks of {}, {}, {}\n", found.moments.size(),
             random > 0 ? fmt::format("{} random vectors", random) : "the vectors given",
             found.width, report["mode"], ranks_and_threads(report));
  fmt::print("spectrum     from {0:.{4}g} to {1:.{4}g}, peaks of width {2:.3g} ({3})\n",
             found.interval.least, found.interval.greatest, found.resolution,
             spectrum["kernel"].get<std::string>(),
             solver::digits_to_tell(std::vector{found.interval.least, found.interval.greatest}));
  if (found.count) {
    const int digits = solver::digits_to_tell(std::vector{found.count->begin, found.count->end});
    fmt::print(
        "count        {:.6g} +- {:.2g} {} from {:.{}g} to {:.{}g} (random {:.2g}, blur of the "
        "ends {:.2g})\n",
        found.count->value, found.count->uncertainty(), spectrum["unit"].get<std::string>(),
        found.count->begin, digits, found.count->end, digits, 2 * found.count->random_error,
        found.count->blur);
  }
  fmt::print("time         {:.3f} s: set-up {:.3f} s, {} products {:.3f} s\n",
             report["seconds"]["total"], report["seconds"]["setup"], found.products,
             report["seconds"]["products"]);
  fmt::print("{}\n", peak_memory(report));
  print_spectrum(found, spectrum["unit"].get<std::string>());
}

/// All but the times. Collective.
Json collective_spectrum_report(const Job& job, const library::LinearSystem& system,
                                const SpectrumCommand& command,
                                const solver::SpectrumReport& found) {
  Json report = collective_start_report(job, "spectrum");
  report_matrix(system, report);
  report["method"] = "kernel-polynomial";
  report["mode"] = spmv::name(command.numbers.mode);
  report["spectrum"] = spectrum_report(command, found, command.unit(),
                                       command.is_of_states() ? command.numbers.vectors : 0);
  const Json ordering = ordering_report(system.ordering());
  if (!ordering.is_null()) report["ordering"] = ordering;
  return report;
}

/// 1 in row `site`, as rows are given, and 0 in all others, in the layout of the operator.
/// Collective. Throws comm_thread::InputError.
perfmodel::HugePageBuffer<double> collective_unit_vector(const library::LinearSystem& system,
                                                         std::int64_t site) {
  const std::int64_t rows = system.op().global_row_count();
  if (site >= rows)
    throw comm_thread::InputError("--site: found " + std::to_string(site) + "; expected 0 to " +
                                  std::to_string(rows - 1) + " for " + system.name());
  library::VectorMap& map = system.map();
  std::vector<double> given(map.given_count());
  for (std::size_t i = 0; i < given.size(); ++i) given[i] = map.global_row(i) == site ? 1.0 : 0.0;
  auto values = library::make_vector(system.op());
  map.collective_to_operator(given, {values.data(), system.element_count()});
  return values;
}

/// Makes what the command asks for. Collective.
solver::SpectrumReport collective_find(library::LinearSystem& system,
                                       const SpectrumCommand& command,
                                       const solver::DensityOptions& options) {
  spmv::SparseOperator& op = *system.matrix_operator();
  const auto span_of = [&](const perfmodel::HugePageBuffer<double>& vector) {
    return std::span<const double>(vector.data(), system.element_count());
  };
  if (command.is_of_states()) return solver::collective_spectral_density(op, options);
  if (command.site >= 0) {
    const auto vector = collective_unit_vector(system, command.site);
    return solver::collective_spectral_function(op, options, span_of(vector), std::nullopt);
  }
  const auto first = system.collective_read(command.vector_path);
  if (command.other_path.empty())
    return solver::collective_spectral_function(op, options, span_of(first.front()), std::nullopt);
  const auto second = system.collective_read(command.other_path);
  return solver::collective_spectral_function(op, options, span_of(first.front()),
                                              span_of(second.front()));
}

int show_spectrum(const comm_thread::MpiSession& session, SpectrumCommand command) {
  const perfmodel::Stopwatch watch;
  const auto problem = spmv::Problem::parse(command.problem);
  command.order = command.order_of(problem);
  const solver::DensityOptions options = command.options();
  Job job = collective_start_job(session, command);
  RunOutput output(job, command);
  if (!command.output_path.empty())
    collective_check_spectrum_file(job.world(), command.output_path);
  library::MemoryForecast forecast =
      library::collective_forecast_system(job.world(), problem, command, false);
  forecast.parts.push_back(
      {"blocks of vectors", collective_block_bytes(job, problem, command, options)});
  if (command.is_dry_run)
    return collective_show_forecast(job, output.file, "spectrum", problem.name(), forecast);
  library::collective_check_memory(job, problem.name(), forecast);
  const auto system = collective_make_system(job, problem, command, false);
  library::collective_expect_symmetry(*system);
  const double setup_seconds = watch.seconds();
  output.timeline.collective_start();
  const solver::SpectrumReport found = collective_find(*system, command, options);
  if (!command.output_path.empty()) collective_write_spectrum(job, found, command.output_path);
  Json report = collective_spectrum_report(job, *system, command, found);
  report["seconds"] = {
      {"total", watch.seconds()}, {"setup", setup_seconds}, {"products", found.seconds}};
  collective_finish_run(job, output, forecast, nullptr, 0, report,
                        [&](const Json& all) { print_summary(all, found); });
  return 0;
}

/// What takes the place of random vectors.
void add_vector_options(CLI::App& command, SpectrumCommand& options) {
  command
      .add_option("--site", options.site, "local density of states of a row\nthe rows count from 0")
      ->check(is_count(0, std::numeric_limits<std::int64_t>::max()))
      ->type_name("ROW");
  command
      .add_option("--vector", options.vector_path,
                  "spectral function <v|f(A)|v> of a vector\nwith --with <v|f(A)|w>")
      ->type_name("FILE");
  command.add_option("--with", options.other_path, "the second vector of a spectral function")
      ->type_name("FILE");
  show_in_help(command, library::OptionGroup::method, {"--site", "--vector", "--with"});
}

}  // namespace

void add_spectrum_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code) {
  const auto options = std::make_shared<SpectrumCommand>();
  CLI::App& command = *program.add_subcommand(
      "spectrum", "density of the eigenvalues of a symmetric matrix, and counts of them");
  add_problem_option(command, *options).required();
  bind_options(command, *options, library::spectrum_options());
  add_vector_options(command, *options);
  command
      .add_option("--output", options->output_path,
                  "writes energies, densities and errors: .npy, .csv, .json")
      ->type_name("FILE");
  show_in_help(command, library::OptionGroup::output, {"--output"});
  bind_options(command, *options, library::matrix_options());
  add_dry_run_option(command, *options);
  add_job_options(command, *options);
  add_trace_option(command, *options);
  command.footer(
      "Kernel polynomial method with random vectors; the same bits on any ranks and threads.\n"
      "Examples:\n"
      "  weft spectrum poisson3d:60 --interval 0:1\n"
      "  weft spectrum holstein-hubbard:phonons=8 --moments 1000 --vectors 64 --output dos.npy\n"
      "  mpiexec.mpich -n 4 weft spectrum matrix.mtx.gz --kernel lorentz:4 --json report.json\n"
      "  weft spectrum anderson3d:40 --site 1000\n"
      "  weft spectrum matrix.mtx --vector v.npy --with w.npy --output function.csv\n"
      "tools/run spectrum ... --plot FILE.svg draws the density.\n"
      "Exit code: 0 done, 2 bad input.");
  command.callback([options, &command, &session, &exit_code] {
    check_needs(command, options->needs());
    exit_code = show_spectrum(session, *options);
  });
}

}  // namespace weft::tools
