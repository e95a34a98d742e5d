#include "tools/system/jacobi_options.h"

#include <optional>
#include <string_view>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/options/nested_options.h"
#include "library/options/option_values.h"
#include "library/options/preconditioner_words.h"
#include "spmv/problems/problem.h"
#include "tools/job/effective_options.h"

namespace weft::tools {
namespace {

using comm_thread::InputError;
using comm_thread::number_in;
using Group = library::OptionGroup;

/// Throws comm_thread::InputError.
void check_momentum(const std::string& text) {
  const auto number = number_in<double>(text);
  if (text != "auto" && !(number && *number >= 0 && *number < 1))
    throw InputError("found '" + text + "'; expected auto or a number from 0 to below 1");
}

/// --transport, which takes threads of one rank, too.
library::ValueOf<JacobiOptions> transport_value() {
  return {[](JacobiOptions& options, const std::string& word, const std::string&) {
            options.is_threaded = word == "openmp";
            if (options.is_threaded) return;
            try {
              options.transport = comm_thread::transport_choice(word);
            } catch (const InputError& error) {
              throw InputError(error.what() + std::string(", or openmp"));
            }
          },
          [](const JacobiOptions& options) { return options.transport_name(); }, "TRANSPORT"};
}

/// Options that other commands do not have, or have with other words.
const library::OptionTable<JacobiOptions>& jacobi_options() {
  using V = library::Values<JacobiOptions>;
  static const library::OptionTable<JacobiOptions> all{
      {"grid", Group::problem,
       "the points of a grid, whose rows the matrix has\n"
       "the diffusion problem on a grid, matrix-free: N or NXxNYxNZ",
       V::text(&JacobiOptions::grid, "NXxNYxNZ")},
      {"partition", Group::run, "what ranks get equal shares of\nof a matrix",
       V::one_of(&JacobiOptions::partition, {"rows", "nonzeros"})},
      {"rhs", Group::problem,
       "right-hand side: ones, random:SEED, ... or a file\n"
       "of a matrix: ones, boundary-one, random:SEED, x-random:SEED or a file",
       V::text(&JacobiOptions::right_hand_side, "RHS")},
      {"lift", Group::rest,
       "of a grid: add this to all boundary values and start from it, so that\n"
       "no value is exactly 0",
       V::number(&JacobiOptions::lift, {.least = -1e300, .most = 1e300, .expected = "a number"})},
      {"transport", Group::run,
       std::string("how halos travel\n") + comm_thread::transport_words() +
           "; or openmp: threads\nof one rank, each with its own planes",
       transport_value()},
      {"weight", Group::rest, "of a matrix: x + WEIGHT D^-1 (b - A x)",
       V::number(&JacobiOptions::weight, library::any_above_zero)},
      {"momentum", Group::rest,
       "of a matrix: + MOMENTUM (x - previous x), second-order Richardson; auto:\n"
       "both from the spectrum",
       V::checked(
           &JacobiOptions::momentum,
           [](const std::string& text) {
             check_momentum(text);
             return text;
           },
           "MOMENTUM|auto")},
      {"inner", Group::method,
       "solver of the rows of a rank, instead of one sweep\n"
       "of a matrix: cg:TOL: multisplitting, every rank solves its own block by conjugate\n"
       "gradients to TOL; schwarz[:overlap=G,subdomains=S,partition=P,kind=K,shift=P]:\n"
       "restricted or optimized Schwarz, subdomains as of the preconditioner of weft solve",
       V::text(&JacobiOptions::inner, "cg:TOL|schwarz[:...]")},
      {"strict", Group::rest, "of a matrix: refuse it unless asynchronous convergence is certain",
       V::flag(&JacobiOptions::is_strict)},
      {"halo-depth", Group::rest,
       "of a grid, sync: depth of the halos in points; one exchange serves as many\n"
       "sweeps, made in one pass through memory",
       V::whole(&JacobiOptions::halo_depth, 1, 64, "S")},
      {"no-time-blocks", Group::rest, "of a grid: make every sweep in a separate pass",
       V::flag(&JacobiOptions::has_single_sweeps)}};
  return all;
}

const std::vector<OptionEffect<JacobiOptions>>& jacobi_effects() {
  using Options = JacobiOptions;
  static const std::vector<OptionEffect<Options>> all{
      {{"--partition", "--format", "--triangle", "--base", "--rhs", "--weight", "--momentum",
        "--inner", "--strict"},
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
       [](const Options& options) { return options.is_sync(); },
       "without --variant sync",
       "both"},
      {{"--detector", "--in-flight"},
       [](const Options& options) { return !options.is_sync(); },
       "with --variant sync",
       "async or racy"},
      {{"--mode", "--detector", "--in-flight", "--halo-period", "--halo-depth", "--no-time-blocks"},
       [](const Options& options) { return !options.is_threaded; },
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

}  // namespace

int JacobiOptions::sweeps_per_check() const {
  return check_period == 0 && has_schwarz() ? 1 : IterationSettings::sweeps_per_check();
}

library::IterationSettings JacobiOptions::settings() const {
  library::IterationSettings settings = *this;
  settings.check_period = sweeps_per_check();
  return settings;
}

bool JacobiOptions::has_schwarz() const { return library::word_before_colon(inner) == "schwarz"; }

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
  IterationSettings::check();
  need(is_grid() != !problem.empty(),
       is_grid() ? "found PROBLEM and --grid; expected one of them"
                 : "found neither PROBLEM nor --grid; expected one, such as --grid 100");
  if (!is_grid()) static_cast<void>(spmv::Problem::parse(problem));
  need(!is_threaded || is_grid(), "--transport openmp: found a matrix; expected --grid");
  expect_effects(command, *this, jacobi_effects());
  if (has_schwarz())
    static_cast<void>(parsed_schwarz());
  else if (!inner.empty())
    static_cast<void>(inner_tolerance());
}

void add_jacobi_options(CLI::App& command, JacobiOptions& options) {
  const auto& sweeps = library::iteration_options();
  add_problem_option(command, options)
      .description(
          "poisson3d:N, elasticity3d:N, ..., or a file .mtx, .petsc, .npz, .h5, .txt, ...\n"
          "any square matrix with a nonzero diagonal, named as in weft solve; or --grid");
  bind_options(command, options, jacobi_options(), {"grid", "partition"});
  bind_options(command, options, library::matrix_options(), {"format", "triangle", "base"});
  bind_options(command, options, jacobi_options(), {"rhs", "lift"});
  bind_options(command, options, sweeps, {"variant", "mode"});
  bind_options(command, options, jacobi_options(), {"transport", "inner"});
  bind_options(command, options, sweeps,
               {"in-flight", "detector", "tolerance", "max-iterations", "inject", "halo-period",
                "check-period"});
  bind_options(command, options, jacobi_options(),
               {"weight", "momentum", "strict", "halo-depth", "no-time-blocks"});
  add_dry_run_option(command, options);
}

}  // namespace weft::tools
