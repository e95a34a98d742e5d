#include "library/options/jacobi_settings.h"

#include <optional>
#include <string_view>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "comm_thread/mpi/option_name.h"
#include "library/options/nested_options.h"
#include "library/options/option_values.h"
#include "library/options/preconditioner_words.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::number_in;
using comm_thread::option_name;

/// Throws comm_thread::InputError.
void check_momentum_word(const std::string& text) {
  const auto number = number_in<double>(text);
  if (text != "auto" && !(number && *number >= 0 && *number < 1))
    throw InputError("found '" + text + "'; expected auto or a number from 0 to below 1");
}

void expect_inner(bool is_so, const std::string& message) {
  if (!is_so) throw InputError(message);
}

/// The transport, which takes threads of one rank, too.
ValueOf<JacobiSettings> transport_value() {
  return {[](JacobiSettings& options, const std::string& word, const std::string&) {
            options.is_threaded = word == "openmp";
            if (options.is_threaded) return;
            try {
              options.transport = comm_thread::transport_choice(word);
            } catch (const InputError& error) {
              throw InputError(error.what() + std::string(", or openmp"));
            }
          },
          [](const JacobiSettings& options) { return options.transport_name(); }, "TRANSPORT"};
}

/// Options of what is swept, and by whom.
OptionTable<JacobiSettings> options_of_problem() {
  using V = Values<JacobiSettings>;
  return {
      {"grid", OptionGroup::problem,
       "the points of a grid, whose rows the matrix has\n"
       "the diffusion problem on a grid, matrix-free: N or NXxNYxNZ",
       V::text(&JacobiSettings::grid, "NXxNYxNZ")},
      {"partition", OptionGroup::run, "what ranks get equal shares of\nof a matrix",
       V::one_of(&JacobiSettings::partition, {"rows", "nonzeros"})},
      {"rhs", OptionGroup::problem,
       "right-hand side: ones, random:SEED, ... or a file\n"
       "of a matrix: ones, boundary-one, random:SEED, x-random:SEED or a file",
       V::text(&JacobiSettings::right_hand_side, "RHS")},
      {"lift", OptionGroup::rest,
       "of a grid: add this to all boundary values and start from it, so that\n"
       "no value is exactly 0",
       V::number(&JacobiSettings::lift, {.least = -1e300, .most = 1e300, .expected = "a number"})},
      {"transport", OptionGroup::run,
       std::string("how halos travel\n") + comm_thread::transport_words() +
           "; or openmp: threads\nof one rank, each with its own planes",
       transport_value()}};
}

/// Options of how it is swept.
OptionTable<JacobiSettings> options_of_sweep() {
  using V = Values<JacobiSettings>;
  return {{"weight", OptionGroup::rest, "of a matrix: x + WEIGHT D^-1 (b - A x)",
           V::number(&JacobiSettings::weight, any_above_zero)},
          {"momentum", OptionGroup::rest,
           "of a matrix: + MOMENTUM (x - previous x), second-order Richardson; auto:\n"
           "both from the spectrum",
           V::checked(
               &JacobiSettings::momentum,
               [](const std::string& text) {
                 check_momentum_word(text);
                 return text;
               },
               "MOMENTUM|auto")},
          {"inner", OptionGroup::method,
           "solver of the rows of a rank, instead of one sweep\n"
           "of a matrix: cg:TOL: multisplitting, every rank solves its own block by conjugate\n"
           "gradients to TOL; schwarz[:overlap=G,subdomains=S,partition=P,kind=K,shift=P]:\n"
           "restricted or optimized Schwarz, subdomains as of the preconditioner of weft solve",
           V::text(&JacobiSettings::inner, "cg:TOL|schwarz[:...]")},
          {"strict", OptionGroup::rest,
           "of a matrix: refuse it unless asynchronous convergence is certain",
           V::flag(&JacobiSettings::is_strict)},
          {"halo-depth", OptionGroup::rest,
           "of a grid, sync: depth of the halos in points; one exchange serves as many\n"
           "sweeps, made in one pass through memory",
           V::whole(&JacobiSettings::halo_depth, 1, 64, "S")},
          {"no-time-blocks", OptionGroup::rest, "of a grid: make every sweep in a separate pass",
           V::flag(&JacobiSettings::has_single_sweeps)}};
}

}  // namespace

const OptionTable<JacobiSettings>& jacobi_options() {
  static const OptionTable<JacobiSettings> all = [] {
    OptionTable<JacobiSettings> options = options_of_problem();
    append(options, options_of_sweep());
    return options;
  }();
  return all;
}

int JacobiSettings::sweeps_per_check() const {
  return check_period == 0 && has_schwarz() ? 1 : IterationSettings::sweeps_per_check();
}

IterationSettings JacobiSettings::iteration() const {
  IterationSettings settings = static_cast<const IterationSettings&>(*this);
  settings.check_period = sweeps_per_check();
  return settings;
}

bool JacobiSettings::has_schwarz() const { return word_before_colon(inner) == "schwarz"; }

solver::SchwarzPreconditioner::Options JacobiSettings::parsed_schwarz() const {
  using Kind = solver::SchwarzPreconditioner::Kind;
  try {
    const auto parsed = parse_schwarz(inner, Kind::restricted);
    expect_inner(parsed.kind != Kind::symmetric,
                 "found 'kind=symmetric'; expected kind=restricted or kind=optimized");
    return parsed;
  } catch (const InputError& error) {
    throw InputError(option_name("inner") + ": " + error.what());
  }
}

std::vector<Need> JacobiSettings::needs() const {
  const std::string with_grid = "with " + option_name("grid");
  const std::string with_inner = "with " + option_name("inner");
  const std::string sync = option_name("variant", "sync");
  const std::string openmp = "with " + option_name("transport", "openmp");
  return {
      {{"partition", "format", "triangle", "base", "rhs", "weight", "momentum", "inner", "strict"},
       !is_grid(),
       with_grid,
       "a matrix"},
      {{"lift", "halo-depth", "no-time-blocks"}, is_grid(), "with a matrix", option_name("grid")},
      {{"weight", "momentum"}, inner.empty(), with_inner, "one of them"},
      {{"weight"},
       momentum != "auto",
       "with " + option_name("momentum", "auto") + ", which chooses it",
       "one of them"},
      {{"mode", "halo-depth", "no-time-blocks"}, is_sync(), "without " + sync, "both"},
      {{"detector", "in-flight"}, !is_sync(), "with " + sync, "async or racy"},
      {{"mode", "detector", "in-flight", "halo-period", "halo-depth", "no-time-blocks"},
       !is_threaded,
       openmp + ", which sends no messages",
       "another transport"},
      {{"no-time-blocks"},
       sweeps_per_check() > 1,
       "with " + option_name("check-period", "1") + ", which checks every sweep",
       "one of them"}};
}

const char* JacobiSettings::method() const {
  if (has_schwarz()) return "schwarz";
  return inner.empty() ? "jacobi" : "multisplitting";
}

double JacobiSettings::inner_tolerance() const {
  expect_inner(
      inner != "multigrid" && !inner.starts_with("multigrid:"),
      option_name("inner") + ": found '" + inner +
          "', which was removed because it was not quicker than weft solve PROBLEM --method "
          "multigrid; expected that, or another inner solver");
  const auto number = inner.starts_with("cg:")
                          ? number_in<double>(std::string_view(inner).substr(3))
                          : std::nullopt;
  if (!number || !(*number > 0 && *number < 1))
    throw InputError(option_name("inner") + ": found '" + inner +
                     "'; expected cg:TOL, TOL between 0 and 1, or schwarz[:...]");
  return *number;
}

}  // namespace weft::library
