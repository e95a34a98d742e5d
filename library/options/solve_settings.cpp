#include "library/options/solve_settings.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "comm_thread/mpi/option_name.h"
#include "library/options/nested_options.h"
#include "library/options/option_values.h"
#include "library/options/preconditioner_words.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/methods/method_table.h"
#include "spmv/modes/mode.h"
#include "spmv/order/graph_partition.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;
using solver::SchwarzPreconditioner;

std::string help_of_methods() {
  std::string text = "auto, cg, cg-pipelined, minres, gmres, bicgstab, multigrid, ...\n";
  for (const solver::KrylovEntry& entry : solver::krylov_methods())
    text += fmt::format("{}: {};\n", entry.name, entry.summary);
  return text +
         "auto: method and preconditioner that suit the matrix; the report says what was chosen,\n"
         "why, and the command that names it; with --preconditioner, without a matrix or where\n"
         "its grid is known, cg, or what a short trial shows to be quicker: a variant of cg or\n"
         "multigrid, as a method or as a preconditioner;\n"
         "pcg-jacobi: cg with --preconditioner jacobi;\n"
         "default: auto for a matrix from a file without --preconditioner, else cg";
}

std::vector<std::string> mode_words() {
  std::vector<std::string> words = spmv::mode_names();
  words.emplace_back("auto");
  return words;
}

ValueOf<SolveSettings> preconditioner_value() {
  return {[](SolveSettings& settings, const std::string& word, const std::string&) {
            check_preconditioner(word);
            settings.preconditioner = word;
            settings.has_preconditioner = true;
          },
          [](const SolveSettings& settings) {
            const bool is_given = settings.has_preconditioner || settings.preconditioner != "none";
            return is_given ? settings.preconditioner : "";
          },
          "none|jacobi|multigrid|amg|isai|ilu0|block-lu|schwarz"};
}

ValueOf<SolveSettings> cycle_value() {
  const ValueOf<solver::amg::Settings> cycle = amg_cycle();
  return Values<SolveSettings>::checked(
      &SolveSettings::cycle,
      [cycle](const std::string& word) {
        solver::amg::Settings settings;
        cycle.read(settings, word, word);
        return settings;
      },
      "V|W|auto");
}

ValueOf<SolveSettings> restart_value() {
  auto value = Values<SolveSettings>::whole(&SolveSettings::restart, 1, 1000, "M");
  value.read = [read = value.read](SolveSettings& settings, const std::string& word,
                                   const std::string& item) {
    try {
      read(settings, word, item);
    } catch (const InputError& error) {
      const bool is_number = word.find_first_not_of("+-.0123456789") == std::string::npos;
      throw InputError(
          error.what() +
          (is_number ? std::string() : "; a file is continued by " + option_name("restart-from")));
    }
  };
  return value;
}

/// Options of the method.
OptionTable<SolveSettings> options_of_method() {
  using V = Values<SolveSettings>;
  using Group = OptionGroup;
  return {{"operator", Group::method,
           "a stored matrix, or a stencil\n"
           "matrix, or stencil: no stored matrix; grid problems only, cut in three directions;\n"
           "auto: stencil for multigrid, or --method auto, on a grid of more than 27 000 points\n"
           "where no other option needs a matrix",
           V::one_of(&SolveSettings::operator_kind, {"auto", "matrix", "stencil"})},
          {"method", Group::method, help_of_methods(),
           V::one_of(&SolveSettings::method, method_names(), "METHOD")},
          {"null-space", Group::rest,
           "of a singular matrix: constant, all entries equal, or a Matrix Market array file:\n"
           "it is projected out of the iteration and, where the matrix is symmetric, of b;\n"
           "none: not even where it is found; default: constant, where the matrix is an\n"
           "M-matrix whose rows all add up to zero",
           V::text(&SolveSettings::null_space, "constant|none|FILE")},
          {"scale", Group::rest,
           "rows: where rows of the matrix differ in scale by more than 2^20, as by penalties,\n"
           "scale rows and columns by powers of two, and divide each row of the residual by its\n"
           "scale; auto: where --method auto chooses; none: never; default: auto",
           V::one_of(&SolveSettings::scale, {"auto", "rows", "none"})},
          {"force", Group::rest, "run a method that needs a symmetric matrix on one that is not",
           V::flag(&SolveSettings::force)},
          {"preconditioner", Group::method,
           "what helps the method; auto chooses one\n" + help_of_preconditioners(),
           preconditioner_value()}};
}

/// Options of preconditioners with levels.
OptionTable<SolveSettings> options_of_levels() {
  using V = Values<SolveSettings>;
  using Group = OptionGroup;
  return {{"cycle", Group::rest,
           "with --preconditioner amg: V: one visit of each level; W: two corrections of each\n"
           "coarse level by the next; default: auto, W where it takes at most an eighth more\n"
           "work, else V",
           cycle_value()},
          {"near-null", Group::rest,
           "with --preconditioner amg: an array .mtx, .mtx.gz, .npy or .h5, whose columns the\n"
           "coarse levels keep exactly; default: the constant vector",
           V::text(&SolveSettings::near_null, "FILE")},
          {"coordinates", Group::problem,
           "coordinates of the nodes, for elasticity with amg\n"
           "with --preconditioner amg, of elasticity: an array as of near-null, a row of 2 or\n"
           "3 coordinates for each node, whose 2 or 3 displacements are consecutive rows of\n"
           "the matrix; coarse levels keep the motions of a rigid body; estimated: from the\n"
           "matrix, the default where its pattern shows such nodes, and coordinates are found",
           V::text(&SolveSettings::coordinates, "FILE|estimated")},
          {"block-size", Group::rest,
           "with --preconditioner amg: as many consecutive rows are a node and stay\n"
           "together; alone, coarse levels keep a constant for each of them; default: 1, or\n"
           "2 to 6 where the pattern of the matrix shows them; with --coordinates one for each",
           V::whole(&SolveSettings::block_size, 1, solver::amg::most_near_null_vectors, "N")},
          {"multigrid", Group::rest,
           "settings of multigrid as a method or a preconditioner, joined by commas:" +
               help_of_nested(multigrid_options()),
           V::checked(&SolveSettings::multigrid, parse_multigrid, "SETTINGS")},
          {"grid", Group::problem,
           "the points of a grid, whose rows the matrix has\n"
           "with multigrid and a matrix from a file: the points whose rows they are, x fastest;\n"
           "the matrix is symmetric, with 7 points",
           V::checked(&SolveSettings::grid, parse_grid, "NXxNYxNZ")}};
}

/// Options of its iterations.
OptionTable<SolveSettings> options_of_iterations() {
  using V = Values<SolveSettings>;
  using Group = OptionGroup;
  return {{"restart", Group::rest,
           "gmres, fgmres: iterations before a restart, and number of vectors kept;\n"
           "default: 30",
           restart_value()},
          {"mode", Group::run,
           "how halos are exchanged; results have the same bits\n"
           "vector (before the product), overlap (MPI, during it), overlap-test (MPI, tested at\n"
           "intervals during it) or task (communication thread, during it); auto: the quickest\n"
           "by a model of the product; default: task, but with --method auto for a file\n"
           "what a short trial shows to be quickest",
           V::one_of(&SolveSettings::mode, mode_words())}};
}

/// Options of its end, and of its report.
OptionTable<SolveSettings> options_of_end() {
  using V = Values<SolveSettings>;
  using Group = OptionGroup;
  const auto stop = [](auto member) {
    return [member](auto& settings) -> auto& { return settings.stop.*member; };
  };
  using Stop = solver::StopCriterion;
  return {
      {"tolerance", Group::method,
       "ends where ||b - A x|| is below this times ||b||\n0: only --absolute-tolerance counts",
       V::number(stop(&Stop::tolerance), zero_or_more)},
      {"max-iterations", Group::method, "ends after this many iterations",
       V::whole(stop(&Stop::max_iterations), 0, std::numeric_limits<std::int64_t>::max(), "INT")},
      {"absolute-tolerance", Group::rest, "end, too, when the residual norm is below this number",
       V::number(stop(&Stop::absolute_tolerance), zero_or_more)},
      {"divergence", Group::rest, "ends where the residual norm exceeds this times ||b||",
       V::number(stop(&Stop::divergence), {.least = 1,
                                           .has_least = false,
                                           .may_be_infinite = true,
                                           .expected = "a number above 1"})},
      {"max-seconds", Group::method,
       "ends after this time\n"
       "set-up not counted, with exit code 6; with several right-hand sides, the solve for each",
       V::number(&SolveSettings::max_seconds,
                 {.has_least = false, .expected = "a number of seconds above 0"}, "SECONDS")},
      {"history", Group::rest, "the report has the residual of every iteration",
       V::flag(&SolveSettings::has_history)},
      {"reuse-preconditioner", Group::rest,
       "new values of the matrix do not make the preconditioner again",
       V::flag(&SolveSettings::reuses_preconditioner)},
      {"recycle", Group::rest,
       "auto: solves use what those before have found, where systems change little by little\n"
       "They begin from the best combination of the last solutions, and for new values\n"
       "of the matrix amg is kept, gets the values or is made anew, whatever is predicted to\n"
       "cost least; none: each solve by itself; default: none",
       V::one_of(&SolveSettings::recycle, {"auto", "none"})}};
}

/// The options that give rows another order or another rank, as the user gave them.
std::string order_options(const SolveSettings& options) {
  std::string text = options.order == "given" ? "" : option_name("order", options.order);
  if (options.partition == "metis")
    text += (text.empty() ? "" : " and ") + option_name("partition", "metis");
  return text;
}

/// Cycles and near-null vectors are of amg, vectors also of rows in the order of the files.
std::vector<Need> needs_of_amg(const SolveSettings& s) {
  const std::string with = "with " + option_name("preconditioner", s.preconditioner);
  const bool has_amg = s.parsed_amg().has_value();
  const bool is_estimated = s.coordinates == estimated;
  return {
      {{"cycle", "near-null", "coordinates", "block-size"}, has_amg, with, "amg"},
      {{"cycle"},
       !has_nested_option(text_behind_colon(s.preconditioner), "cycle"),
       with,
       "one of them"},
      {{"near-null", is_estimated ? "near-null" : "coordinates", "block-size"},
       s.has_given_order(),
       "with " + order_options(s),
       "rows in the given order"},
      {{"near-null"}, s.coordinates.empty(), "with " + option_name("coordinates"), "one of them"}};
}

/// What only a matrix has, or only a method for matrices and preconditioners that are symmetric.
std::vector<Need> needs_of_preconditioner(const SolveSettings& s) {
  using Kind = SchwarzPreconditioner::Kind;
  const std::string name = s.preconditioner_name();
  const std::string with = " with " + option_name("method", s.method);
  const auto schwarz = s.parsed_schwarz();
  const Kind kind = schwarz ? schwarz->kind : Kind::symmetric;
  const auto isai = s.parsed_isai();
  const solver::KrylovEntry* const chosen = solver::find_krylov_method(s.method);
  return {
      {{"preconditioner"},
       !s.is_matrix_free() || !(schwarz || isai || s.parsed_amg()),
       name + " with " + option_name("operator", "stencil"),
       option_name("operator", "matrix") + ", or " + option_name("preconditioner", "multigrid")},
      {{"preconditioner"},
       s.method != "pcg-jacobi" || s.preconditioner == "jacobi",
       name + with,
       option_name("method", "cg")},
      {{"preconditioner"},
       isai != solver::IsaiPreconditioner::Form::general || !s.needs_symmetric_preconditioner(),
       "isai:kind=general" + with,
       option_name("method", "gmres") + " or bicgstab, because it is not symmetric"},
      {{"preconditioner"},
       kind == Kind::symmetric || !s.needs_symmetric_preconditioner(),
       name + ":kind=" + solver::name(kind) + with,
       option_name("method", "gmres") + " or fcg, because it is not symmetric"},
      {{"restart"},
       chosen && chosen->has_restart,
       "with " + option_name("method", s.method),
       option_name("method", "gmres") + " or fgmres"}};
}

/// Multigrid needs to know which point of a grid a row is.
std::vector<Need> needs_of_multigrid(const SolveSettings& s) {
  const std::string with = "with " + option_name("method", s.method);
  const bool is_method = s.method == "multigrid";
  const bool uses_grid = s.has_multigrid() || s.may_choose_multigrid();
  const bool is_tried = s.method == "auto" && s.is_matrix_free() && s.preconditioner == "none";
  const bool has_full_start = s.parsed_multigrid().has_full_start;
  return {
      {{"preconditioner"}, !is_method, s.preconditioner + " " + with, "none"},
      {{s.preconditioner == "multigrid" ? "preconditioner" : "method"},
       !s.has_multigrid() || s.has_given_order(),
       "with " + order_options(s),
       "rows in the given order, because they are points of the grid",
       "multigrid"},
      {{"grid"}, uses_grid && !s.is_matrix_free(), "without a matrix and multigrid", "both"},
      {{"multigrid"},
       uses_grid || is_tried,
       with,
       option_name("method", "multigrid") + " or " + option_name("preconditioner", "multigrid")},
      {{"multigrid"},
       !has_full_start || is_method || s.method == "auto",
       "start=full " + with,
       option_name("method", "multigrid")},
      {{"multigrid"},
       !has_full_start || s.is_matrix_free(),
       "start=full with " + option_name("operator", "matrix"),
       option_name("operator", "stencil")}};
}

/// What only a stored matrix has.
std::vector<Need> needs_of_matrix(const SolveSettings& s) {
  const std::string with = "with " + option_name("operator", "stencil");
  const bool has_matrix = !s.is_matrix_free();
  return {{{"scale"}, has_matrix || s.scale != "rows", "rows " + with, "a matrix"},
          {{"null-space"}, has_matrix || s.null_space == "none", with, "a matrix"},
          {{"order", "partition"},
           has_matrix,
           with,
           option_name("operator", "matrix") + ", whose rows have an order"},
          {{"format", "triangle", "base"}, has_matrix, with, "a matrix"},
          {{"recycle"}, has_matrix, with, "a matrix"},
          {{"reuse-preconditioner"},
           !s.recycles(),
           "with " + option_name("recycle", s.recycle) + ", which decides that",
           "one of them"}};
}

}  // namespace

const OptionTable<SolveSettings>& solve_options() {
  static const OptionTable<SolveSettings> all = [] {
    OptionTable<SolveSettings> options = options_of_method();
    append(options, options_of_levels());
    append(options, options_of_iterations());
    append(options, options_of_end());
    append(options, matrix_options());
    return options;
  }();
  return all;
}

solver::MultigridPreconditioner::Grid parse_grid(const std::string& text) {
  const std::string expected = "found '" + text + "'; expected NXxNY or NXxNYxNZ";
  std::vector<spmv::GlobalIndex> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const auto size = comm_thread::number_in<spmv::GlobalIndex>(text.substr(begin, end - begin));
    if (!size || *size < 1 || *size > std::int64_t{1} << 31) throw InputError(expected);
    sizes.push_back(*size);
    begin = end + 1;
  }
  if (sizes.size() < 2 || sizes.size() > 3) throw InputError(expected);
  const bool has_z = sizes.size() == 3;
  if (!has_z) sizes.push_back(1);
  constexpr spmv::GlobalIndex most = std::numeric_limits<spmv::GlobalIndex>::max();
  if (sizes[0] > most / sizes[1] || sizes[0] * sizes[1] > most / sizes[2])
    throw InputError(expected + " with fewer points");
  return {.size = {sizes[0], sizes[1], sizes[2]}, .has_boundary = {true, true, has_z}};
}

std::vector<std::string> method_names() {
  std::vector<std::string> names{"auto", "pcg-jacobi"};
  for (const solver::KrylovEntry& entry : solver::krylov_methods()) names.emplace_back(entry.name);
  return names;
}

SolveSettings SolveSettings::parse(const std::map<std::string, std::string>& values) {
  SolveSettings settings;
  read_options(values, solve_options(), settings);
  return settings;
}

bool SolveSettings::needs_symmetric_preconditioner() const {
  const solver::KrylovEntry* const entry = solver::find_krylov_method(method);
  return !entry || entry->needs_symmetric_preconditioner;
}

/// True for recurrences that multiply what a preconditioner rounds. poisson3d:16 with amg in single
/// precision to 1e-9: cg-pipelined 22 iterations, bicgstab-pipelined 2892; in double 9 and 5.
bool SolveSettings::amplifies_rounding() const {
  const solver::KrylovEntry* const entry = solver::find_krylov_method(method);
  return entry && entry->hides_reduction;
}

std::optional<SchwarzPreconditioner::Options> SolveSettings::parsed_schwarz(bool is_file) const {
  std::optional<SchwarzPreconditioner::Options> parsed;
  if (is_block_factor(preconditioner)) {
    parsed = parse_block_factor(preconditioner);
  } else if (preconditioner_name() == "schwarz") {
    parsed = parse_schwarz(preconditioner, SchwarzPreconditioner::Kind::symmetric);
    if (is_file && !has_nested_option(text_behind_colon(preconditioner), "partition") &&
        spmv::can_partition_graphs())
      parsed->partition = SchwarzPreconditioner::Partition::graph;
  }
  if (parsed) parsed->must_be_definite = needs_symmetric_preconditioner();
  return parsed;
}

std::optional<solver::IsaiPreconditioner::Form> SolveSettings::parsed_isai() const {
  using Form = solver::IsaiPreconditioner::Form;
  if (preconditioner_name() != "isai") return std::nullopt;
  const std::string kind = text_behind_colon(preconditioner);
  const bool is_symmetric =
      kind.empty() ? needs_symmetric_preconditioner() : kind == "kind=symmetric";
  return is_symmetric ? Form::symmetric : Form::general;
}

std::optional<solver::amg::Settings> SolveSettings::parsed_amg() const {
  if (preconditioner_name() != "amg") return std::nullopt;
  solver::amg::Settings parsed = parse_amg(preconditioner);
  if (amplifies_rounding() && !has_nested_option(text_behind_colon(preconditioner), "precision"))
    parsed.precision = solver::amg::Settings::Precision::in_double;
  if (!cycle.empty()) amg_cycle().read(parsed, cycle, cycle);
  return parsed;
}

solver::MultigridSettings SolveSettings::parsed_multigrid() const {
  solver::MultigridSettings parsed = parse_multigrid(multigrid);
  if (amplifies_rounding() && !has_nested_option(multigrid, "precision")) parsed.is_double = true;
  return parsed;
}

bool SolveSettings::has_smoothing_steps() const { return has_nested_option(multigrid, "steps"); }

std::optional<solver::MultigridPreconditioner::Grid> SolveSettings::parsed_grid() const {
  if (grid.empty()) return std::nullopt;
  return parse_grid(grid);
}

std::vector<Need> SolveSettings::needs() const {
  std::vector<Need> all;
  for (const auto some :
       {needs_of_amg, needs_of_preconditioner, needs_of_multigrid, needs_of_matrix})
    for (Need& need : some(*this)) all.push_back(std::move(need));
  return all;
}

void SolveSettings::check() const { check_needs(needs(), solve_options(), *this); }

}  // namespace weft::library
