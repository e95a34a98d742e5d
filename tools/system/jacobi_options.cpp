#include "tools/system/jacobi_options.h"

#include <optional>
#include <string_view>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/settings/schwarz_word.h"
#include "spmv/problems/problem.h"
#include "tools/job/option_effects.h"

namespace weft::tools {
namespace {

using comm_thread::InputError;
using comm_thread::number_in;

std::string fault_of_momentum(const std::string& text) {
  const auto number = number_in<double>(text);
  return text == "auto" || (number && *number >= 0 && *number < 1)
             ? ""
             : "found '" + text + "'; expected auto or a number from 0 to below 1";
}

const std::vector<OptionEffect<JacobiOptions>>& jacobi_effects() {
  using Options = JacobiOptions;
  static const std::vector<OptionEffect<Options>> all{
      {{"--partition", "--format", "--triangle", "--rhs", "--weight", "--momentum", "--inner",
        "--strict"},
       [](const Options& options) { return !options.is_grid(); },
       "with --grid",
       "a matrix"},
      {{"--lift", "--halo-depth", "--no-time-blocks"},
       &Options::is_grid,
       "with a matrix",
       "--grid"},
      {{"--weight", "--momentum"},
       [](const Options& options) { return options.inner.empty(); },
       "with --inner",
       "one of them"},
      {{"--weight"},
       [](const Options& options) { return options.momentum != "auto"; },
       "with --momentum auto, which chooses it",
       "one of them"},
      {{"--mode", "--halo-depth", "--no-time-blocks"},
       &Options::is_sync,
       "without --variant sync",
       "both"},
      {{"--detector", "--in-flight"},
       [](const Options& options) { return !options.is_sync(); },
       "with --variant sync",
       "async or racy"},
      {{"--mode", "--detector", "--in-flight", "--halo-period", "--halo-depth", "--no-time-blocks"},
       [](const Options& options) { return !options.is_threaded(); },
       "with --transport openmp, which sends no messages",
       "another transport"},
      {{"--no-time-blocks"},
       [](const Options& options) { return options.sweeps_per_check() > 1; },
       "with --check-period 1, which checks every sweep",
       "one of them"},
      effect_of_interval<Options>()};
  return all;
}

void need(bool is_so, const std::string& message) {
  if (!is_so) throw InputError(message);
}

void add_what_options(CLI::App& command, JacobiOptions& options) {
  command
      .add_option("problem", options.problem,
                  "any square matrix with a nonzero diagonal, named as in weft solve;\n"
                  "or --grid")
      ->type_name("PROBLEM");
  command
      .add_option("--grid", options.grid,
                  "the diffusion problem on a grid, matrix-free: N or NXxNYxNZ")
      ->type_name("NXxNYxNZ");
  add_choice(command, "--partition", options.partition, {"rows", "nonzeros"},
             "of a matrix: equal shares of rows or nonzeros");
  add_format_option(command, options);
  add_triangle_option(command, options);
  command
      .add_option("--rhs", options.right_hand_side,
                  "of a matrix: ones, boundary-one, random:SEED, x-random:SEED or a file")
      ->type_name("RHS");
  command
      .add_option("--lift", options.lift,
                  "of a grid: add this to all boundary values and start from it, so that\n"
                  "no value is exactly 0")
      ->capture_default_str();
}

void add_method_options(CLI::App& command, JacobiOptions& options) {
  add_choice(command, "--variant", options.variant, {"sync", "async", "racy"},
             "sync: synchronous; async: asynchronous, newest whole halo; racy:\n"
             "asynchronous, newest elements");
  add_async_options(command, options, true);
  command
      .add_option("--halo-period", options.halo_period,
                  "sweeps between two halo exchanges; auto: messages cost 5 % of sweeping;\n"
                  "default: 1 with sync, else auto")
      ->check([](const std::string& text) {
        return fault_of([&] { library::parse_halo_period(text); });
      })
      ->type_name("N|auto");
  command
      .add_option("--check-period", options.check_period,
                  "sweeps between two checks of the residual; default: 100 with sync,\n"
                  "else 25")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("K");
}

void add_numerical_options(CLI::App& command, JacobiOptions& options) {
  command
      .add_option("--tolerance", options.tolerance,
                  "end when ||b - A x|| is below this times ||b||")
      ->check(fault_of_positive)
      ->capture_default_str();
  command.add_option("--weight", options.weight, "of a matrix: x + WEIGHT D^-1 (b - A x)")
      ->check(fault_of_positive)
      ->capture_default_str();
  command
      .add_option("--momentum", options.momentum,
                  "of a matrix: + MOMENTUM (x - previous x), second-order Richardson; auto:\n"
                  "both from the spectrum")
      ->check(fault_of_momentum)
      ->type_name("MOMENTUM|auto")
      ->capture_default_str();
  command
      .add_option("--inner", options.inner,
                  "of a matrix: inner solver; cg:TOL: multisplitting, every rank solves its\n"
                  "own block by conjugate gradients to TOL; schwarz[:overlap=G,subdomains=S,\n"
                  "partition=P,kind=K,shift=P]: restricted or optimized Schwarz, subdomains as\n"
                  "of the preconditioner of weft solve")
      ->type_name("cg:TOL|schwarz[:...]");
  command.add_flag("--strict", options.is_strict,
                   "of a matrix: refuse it unless asynchronous convergence is certain");
}

}  // namespace

int JacobiOptions::sweeps_per_check() const {
  if (check_period > 0) return check_period;
  if (has_schwarz()) return 1;
  return is_sync() ? 100 : 25;
}

library::IterationSettings JacobiOptions::settings() const {
  library::IterationSettings settings = AsyncOptions::settings();
  settings.check_period = sweeps_per_check();
  if (!halo_period.empty())
    settings.halo_period = library::parse_halo_period(halo_period);
  else if (!is_sync())
    settings.halo_period = library::IterationSettings::automatic_halo_period;
  return settings;
}

bool JacobiOptions::has_schwarz() const { return library::is_schwarz(inner); }

solver::SchwarzPreconditioner::Options JacobiOptions::parsed_schwarz() const {
  using Kind = solver::SchwarzPreconditioner::Kind;
  try {
    const auto parsed = library::parse_schwarz(inner, Kind::restricted);
    need(parsed.kind != Kind::symmetric,
         "found 'kind=symmetric'; expected kind=restricted or kind=optimized");
    return parsed;
  } catch (const InputError& error) {
    throw InputError(std::string("--inner: ") + error.what());
  }
}

const char* JacobiOptions::method() const {
  if (has_schwarz()) return "schwarz";
  return inner.empty() ? "jacobi" : "multisplitting";
}

double JacobiOptions::inner_tolerance() const {
  need(inner != "multigrid" && !inner.starts_with("multigrid:"),
       "--inner: found '" + inner +
           "', which was removed because it was not quicker than weft solve PROBLEM --method "
           "multigrid; expected that, or another inner solver");
  const auto number = inner.starts_with("cg:")
                          ? number_in<double>(std::string_view(inner).substr(3))
                          : std::nullopt;
  if (!number || !(*number > 0 && *number < 1))
    throw InputError("--inner: found '" + inner +
                     "'; expected cg:TOL, TOL between 0 and 1, or schwarz[:...]");
  return *number;
}

void JacobiOptions::check(const CLI::App& command) const {
  settings().check();
  need(is_grid() != !problem.empty(),
       is_grid() ? "found PROBLEM and --grid; expected one of them"
                 : "found neither PROBLEM nor --grid; expected one, such as --grid 100");
  if (!is_grid()) static_cast<void>(spmv::Problem::parse(problem));
  need(!is_threaded() || is_grid(), "--transport openmp: found a matrix; expected --grid");
  expect_effects(command, *this, jacobi_effects());
  if (has_schwarz())
    static_cast<void>(parsed_schwarz());
  else if (!inner.empty())
    static_cast<void>(inner_tolerance());
}

void add_jacobi_options(CLI::App& command, JacobiOptions& options) {
  add_what_options(command, options);
  add_method_options(command, options);
  add_numerical_options(command, options);
  command
      .add_option("--halo-depth", options.halo_depth,
                  "of a grid, sync: depth of the halos in points; one exchange serves as many\n"
                  "sweeps, made in one pass through memory")
      ->check(CLI::Range(1, 64))
      ->type_name("S")
      ->capture_default_str();
  add_dry_run_option(command, options);
  command.add_flag("--no-time-blocks", options.has_single_sweeps,
                   "of a grid: make every sweep in a separate pass");
}

}  // namespace weft::tools
