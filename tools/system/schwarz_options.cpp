#include "tools/system/schwarz_options.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/options/option_values.h"
#include "spmv/problems/right_hand_side.h"
#include "tools/job/effective_options.h"

namespace weft::tools {
namespace {

using comm_thread::InputError;
using Group = library::OptionGroup;

double parse_alpha(const std::string& text) {
  const auto alpha = comm_thread::number_in<double>(text);
  if (!alpha || !(*alpha > 0))
    throw InputError("found '" + text +
                     "'; expected a number above 0, inf for the classical method, auto or search");
  return *alpha;
}

std::string check_alpha(const std::string& text) {
  if (text != "auto" && text != "search") parse_alpha(text);
  return text;
}

std::string check_right_hand_side(const std::string& text) {
  if (spmv::RightHandSide::parse(text).kind == spmv::RightHandSideKind::file)
    throw InputError("found a file; expected ones, boundary-one, random:SEED or x-random:SEED");
  return text;
}

/// Options that other commands do not have, or have with other words.
const library::OptionTable<SchwarzOptions>& schwarz_options() {
  using V = library::Values<SchwarzOptions>;
  using Variant = library::IterationVariant;
  static const library::OptionTable<SchwarzOptions> all{
      {"subdomains", Group::problem,
       "subdomains in each direction\n"
       "cut the square into Q x Q subdomains, any number of them per rank",
       V::whole(&SchwarzOptions::tiles_per_side, 1, 8192, "Q")},
      {"points", Group::problem,
       "points of a subdomain in each direction\npoints of each subdomain: M x M",
       V::whole(&SchwarzOptions::points_per_side, 1, 8192, "M")},
      {"overlap", Group::problem,
       "layers of points that subdomains share\n"
       "points by which a subdomain grows on sides with a neighbour",
       V::whole(&SchwarzOptions::overlap, 0, 8191, "G")},
      {"rhs", Group::problem,
       "right-hand side: ones, random:SEED, ...\nones, boundary-one, random:SEED or x-random:SEED",
       V::checked(&SchwarzOptions::right_hand_side, check_right_hand_side, "RHS")},
      {"variant", Group::method,
       "kind of the sweeps\n"
       "sync: synchronous; async: asynchronous, newest received values",
       V::named<Variant>(&SchwarzOptions::variant,
                         {{"sync", Variant::synchronous}, {"async", Variant::async}})},
      {"alpha", Group::method,
       "weight in the condition between subdomains\n"
       "of the condition dx/dn + ALPHA x, in units of the mesh; inf: the classical method;\n"
       "auto: by theory (OO0); search: by trial, beginning with auto",
       V::checked(&SchwarzOptions::alpha, check_alpha, "ALPHA|inf|auto|search")},
      {"local-solver", Group::rest,
       "solver of the subdomains: cholmod, a sparse factorization; tensor, fast\n"
       "diagonalisation; auto: the quicker one in a trial",
       V::one_of(&SchwarzOptions::local_solver, {"auto", "cholmod", "tensor"})},
      {"coarse", Group::method,
       "a second level between all subdomains\n"
       "linear: one bilinear function for each point where four of them meet",
       V::one_of(&SchwarzOptions::coarse, {"none", "linear"})}};
  return all;
}

const std::vector<OptionEffect<SchwarzOptions>>& schwarz_effects() {
  using Options = SchwarzOptions;
  static const std::vector<OptionEffect<Options>> all{
      {{"--mode"},
       [](const Options& options) { return options.is_sync(); },
       "without --variant sync",
       "both"},
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

}  // namespace

SchwarzOptions::SchwarzOptions() {
  tolerance = 1e-7;
  max_in_flight = 8;
  halo_period = 1;
  check_period = 1;  // residuals as last computed cost nothing
}

void SchwarzOptions::check(const CLI::App& command) const {
  IterationSettings::check();
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

solver::SchwarzProblem SchwarzOptions::problem() const {
  const double infinite = std::numeric_limits<double>::infinity();
  const solver::SchwarzProblem problem{tiles_per_side, points_per_side, overlap,
                                       has_alpha() ? parse_alpha(alpha) : infinite,
                                       spmv::RightHandSide::parse(right_hand_side)};
  solver::check(problem);
  return problem;
}

void add_alpha_option(CLI::App& command, SchwarzOptions& options) {
  bind_options(command, options, schwarz_options(), {"alpha"});
}

void add_schwarz_options(CLI::App& command, SchwarzOptions& options) {
  const auto& sweeps = library::iteration_options();
  bind_options(command, options, schwarz_options(),
               {"subdomains", "points", "overlap", "rhs", "variant"});
  command.get_option("--subdomains")->required();
  command.get_option("--points")->required();
  bind_options(command, options, sweeps,
               {"mode", "transport", "in-flight", "detector", "tolerance", "max-iterations",
                "inject", "seconds", "wait"});
  bind_options(command, options, schwarz_options(), {"local-solver", "coarse"});
  add_dry_run_option(command, options);
}

}  // namespace weft::tools
