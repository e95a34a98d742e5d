#include "tools/system/schwarz_options.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "spmv/problems/right_hand_side.h"
#include "tools/job/option_effects.h"

namespace weft::tools {
namespace {

using comm_thread::InputError;

double parse_alpha(const std::string& text) {
  const auto alpha = comm_thread::number_in<double>(text);
  if (!alpha || !(*alpha > 0))
    throw InputError("found '" + text +
                     "'; expected a number above 0, inf for the classical method, auto or search");
  return *alpha;
}

std::string fault_of_alpha(const std::string& text) {
  if (text == "auto" || text == "search") return "";
  return fault_of([&] { parse_alpha(text); });
}

std::string fault_of_right_hand_side(const std::string& text) {
  return fault_of([&] {
    if (spmv::RightHandSide::parse(text).kind == spmv::RightHandSideKind::file)
      throw InputError("found a file; expected ones, boundary-one, random:SEED or x-random:SEED");
  });
}

const std::vector<OptionEffect<SchwarzOptions>>& schwarz_effects() {
  using Options = SchwarzOptions;
  static const std::vector<OptionEffect<Options>> all{
      {{"--mode"}, &Options::is_sync, "without --variant sync", "both"},
      {{"--detector", "--in-flight"},
       [](const Options& options) { return !options.is_sync(); },
       "with --variant sync",
       "async"},
      {{"--alpha", "--overlap"},
       [](const Options& options) { return options.tiles_per_side > 1; },
       "with --subdomains 1, which has no neighbours",
       "2 or more"},
      effect_of_interval<Options>()};
  return all;
}

void add_problem_options(CLI::App& command, SchwarzOptions& options) {
  command
      .add_option("--subdomains", options.tiles_per_side,
                  "cut the square into Q x Q subdomains, any number of them per rank")
      ->required()
      ->check(CLI::Range(1, 8192))
      ->type_name("Q");
  command.add_option("--points", options.points_per_side, "points of each subdomain: M x M")
      ->required()
      ->check(CLI::Range(1, 8192))
      ->type_name("M");
  command
      .add_option("--overlap", options.overlap,
                  "points by which a subdomain grows on sides with a neighbour")
      ->check(CLI::Range(0, 8191))
      ->type_name("G")
      ->capture_default_str();
  command
      .add_option("--rhs", options.right_hand_side,
                  "ones, boundary-one, random:SEED or x-random:SEED")
      ->check(fault_of_right_hand_side)
      ->type_name("RHS")
      ->capture_default_str();
}

}  // namespace

void SchwarzOptions::check(const CLI::App& command) const {
  settings().check();
  expect_effects(command, *this, schwarz_effects());
  static_cast<void>(problem());
  if (has_coarse() && (tiles_per_side < 2 || points_per_side < 2))
    throw InputError("--coarse: found " + coarse +
                     " with one subdomain or one point per side; expected 2 or more of both");
  if (checkpoints.is_used() && fixed_seconds > 0)
    throw InputError(
        "--seconds: found with --checkpoint or --restart-from; expected a run until converged");
}

std::string SchwarzOptions::what() const {
  return "poisson2d:" + std::to_string(problem().grid_side());
}

library::IterationSettings SchwarzOptions::settings() const {
  library::IterationSettings settings = AsyncOptions::settings();
  settings.check_period = 1;  // residuals as last computed cost nothing
  settings.fixed_seconds = fixed_seconds;
  if (wait == "wait") settings.wait = solver::HaloWait::each;
  return settings;
}

solver::SchwarzProblem SchwarzOptions::problem() const {
  const double infinite = std::numeric_limits<double>::infinity();
  const solver::SchwarzProblem problem{tiles_per_side, points_per_side, overlap,
                                       has_alpha() ? parse_alpha(alpha) : infinite,
                                       spmv::RightHandSide::parse(right_hand_side)};
  solver::check(problem);
  return problem;
}

void add_alpha_option(CLI::App& command, SchwarzOptions& options) {
  command
      .add_option("--alpha", options.alpha,
                  "of the condition dx/dn + ALPHA x between subdomains, in units of the\n"
                  "mesh; inf: the classical method; auto: by theory (OO0); search: by trial,\n"
                  "beginning with auto")
      ->check(fault_of_alpha)
      ->type_name("ALPHA|inf|auto|search")
      ->capture_default_str();
}

void add_schwarz_options(CLI::App& command, SchwarzOptions& options) {
  add_problem_options(command, options);
  add_choice(command, "--variant", options.variant, {"sync", "async"},
             "sync: synchronous; async: asynchronous, newest received values");
  add_async_options(command, options, false);
  command
      .add_option("--seconds", options.fixed_seconds,
                  "run for exactly this time, converged or not; 0: until converged")
      ->check(CLI::NonNegativeNumber)
      ->type_name("S")
      ->capture_default_str();
  add_choice(command, "--wait", options.wait, {"wait", "waitall"},
             "with sync: waitall, for the halos of all neighbours, or wait, for one\n"
             "after the other, copying received halos meanwhile");
  add_choice(command, "--local-solver", options.local_solver, {"auto", "cholmod", "tensor"},
             "solver of the subdomains: cholmod, a sparse factorization; tensor, fast\n"
             "diagonalisation; auto: the quicker one in a trial");
  add_dry_run_option(command, options);
  add_choice(command, "--coarse", options.coarse, {"none", "linear"},
             "a second level between all subdomains: linear, one bilinear function for\n"
             "each point where four of them meet");
  command
      .add_option("--tolerance", options.tolerance,
                  "end when ||b - A x|| is below this times ||b|| on every subdomain")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace weft::tools
