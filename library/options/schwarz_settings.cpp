#include "library/options/schwarz_settings.h"

#include <limits>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "comm_thread/mpi/option_name.h"
#include "library/options/option_values.h"
#include "spmv/problems/right_hand_side.h"

namespace weft::library {
namespace {

using comm_thread::InputError;

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

std::string check_tiles_right_hand_side(const std::string& text) {
  if (spmv::RightHandSide::parse(text).kind == spmv::RightHandSideKind::file)
    throw InputError("found a file; expected ones, boundary-one, random:SEED or x-random:SEED");
  return text;
}

}  // namespace

const OptionTable<SchwarzSettings>& tile_options() {
  using V = Values<SchwarzSettings>;
  using Variant = IterationVariant;
  static const OptionTable<SchwarzSettings> all{
      {"subdomains", OptionGroup::problem,
       "subdomains in each direction\n"
       "cut the square into Q x Q subdomains, any number of them per rank",
       V::whole(&SchwarzSettings::tiles_per_side, 1, 8192, "Q")},
      {"points", OptionGroup::problem,
       "points of a subdomain in each direction\npoints of each subdomain: M x M",
       V::whole(&SchwarzSettings::points_per_side, 1, 8192, "M")},
      {"overlap", OptionGroup::problem,
       "layers of points that subdomains share\n"
       "points by which a subdomain grows on sides with a neighbour",
       V::whole(&SchwarzSettings::overlap, 0, 8191, "G")},
      {"rhs", OptionGroup::problem,
       "right-hand side: ones, random:SEED, ...\nones, boundary-one, random:SEED or x-random:SEED",
       V::checked(&SchwarzSettings::right_hand_side, check_tiles_right_hand_side, "RHS")},
      {"variant", OptionGroup::method,
       "kind of the sweeps\n"
       "sync: synchronous; async: asynchronous, newest received values",
       V::named<Variant>(&SchwarzSettings::variant,
                         {{"sync", Variant::synchronous}, {"async", Variant::async}})},
      {"alpha", OptionGroup::method,
       "weight in the condition between subdomains\n"
       "of the condition dx/dn + ALPHA x, in units of the mesh; inf: the classical method;\n"
       "auto: by theory (OO0); search: by trial, beginning with auto",
       V::checked(&SchwarzSettings::alpha, check_alpha, "ALPHA|inf|auto|search")},
      {"local-solver", OptionGroup::rest,
       "solver of the subdomains: cholmod, a sparse factorization; tensor, fast\n"
       "diagonalisation; auto: the quicker one in a trial",
       V::one_of(&SchwarzSettings::local_solver, {"auto", "cholmod", "tensor"})},
      {"coarse", OptionGroup::method,
       "a second level between all subdomains\n"
       "linear: one bilinear function for each point where four of them meet",
       V::one_of(&SchwarzSettings::coarse, {"none", "linear"})}};
  return all;
}

SchwarzSettings::SchwarzSettings() {
  tolerance = 1e-7;
  max_in_flight = 8;
  halo_period = 1;
  check_period = 1;  // residuals as last computed cost nothing
}

void SchwarzSettings::check() const {
  IterationSettings::check();
  static_cast<void>(problem());
  if (has_coarse() && (tiles_per_side < 2 || points_per_side < 2))
    throw InputError(comm_thread::option_name("coarse") + ": found " + coarse +
                     " with one subdomain or one point per side; expected 2 or more of both");
}

std::vector<Need> SchwarzSettings::needs() const {
  const std::string sync = comm_thread::option_name("variant", "sync");
  return {{{"mode"}, is_sync(), "without " + sync, "both"},
          {{"detector", "in-flight"}, !is_sync(), "with " + sync, "async"},
          {{"alpha", "overlap"},
           tiles_per_side > 1,
           "with " + comm_thread::option_name("subdomains", "1") + ", which has no neighbours",
           "2 or more"}};
}

std::string SchwarzSettings::what() const {
  return "poisson2d:" + std::to_string(problem().grid_side());
}

solver::SchwarzProblem SchwarzSettings::problem() const {
  const double infinite = std::numeric_limits<double>::infinity();
  const solver::SchwarzProblem problem{tiles_per_side, points_per_side, overlap,
                                       has_alpha() ? parse_alpha(alpha) : infinite,
                                       spmv::RightHandSide::parse(right_hand_side)};
  solver::check(problem);
  return problem;
}

}  // namespace weft::library
