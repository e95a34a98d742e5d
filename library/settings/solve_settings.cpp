#include "library/settings/solve_settings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/settings/amg_word.h"
#include "library/settings/multigrid_word.h"
#include "library/settings/schwarz_word.h"
#include "library/settings/word_number.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/methods/method_table.h"
#include "spmv/modes/mode.h"
#include "spmv/order/graph_partition.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using solver::SchwarzPreconditioner;

/// The options that give rows another order or another rank, as the user gave them.
std::string order_options(const SolveSettings& options) {
  std::string text = options.order == "given" ? "" : "--order " + options.order;
  if (options.partition == "metis")
    text += std::string(text.empty() ? "" : " and ") + "--partition metis";
  return text;
}

/// Multigrid needs to know which point of a grid a row is.
void check_multigrid(const SolveSettings& options) {
  const bool is_preconditioner = options.preconditioner == "multigrid";
  if (options.method == "multigrid" && options.preconditioner != "none")
    throw InputError("--preconditioner: found " + options.preconditioner +
                     " with --method multigrid; expected none");
  if (options.has_multigrid() && (options.order != "given" || options.partition == "metis"))
    throw InputError(std::string("--") + (is_preconditioner ? "preconditioner" : "method") +
                     " multigrid: found with " + order_options(options) +
                     "; expected rows in the given order, because they are points of the grid");
  const bool uses_grid = options.has_multigrid() || options.may_choose_multigrid();
  if (!options.grid.empty() && (!uses_grid || options.is_matrix_free()))
    throw InputError("--grid: found without a matrix and multigrid; expected both");
  const bool is_tried =
      options.method == "auto" && options.is_matrix_free() && options.preconditioner == "none";
  if (!options.multigrid.empty() && !uses_grid && !is_tried)
    throw InputError("--multigrid: found with --method " + options.method +
                     "; expected --method multigrid or --preconditioner multigrid");
  if (options.parsed_multigrid().has_full_start && options.method != "multigrid" &&
      options.method != "auto")
    throw InputError("--multigrid: found start=full with --method " + options.method +
                     "; expected --method multigrid");
  if (options.parsed_multigrid().has_full_start && !options.is_matrix_free())
    throw InputError(
        "--multigrid: found start=full with --operator matrix; expected --operator stencil");
}

/// Cycles and near-null vectors are of amg, vectors also of rows in the order of the files.
void check_amg_options(const SolveSettings& options) {
  const auto check_amg = [&](bool is_given, const char* name) {
    if (is_given && !options.parsed_amg())
      throw InputError(fmt::format("{}: found with --preconditioner {}; expected amg", name,
                                   options.preconditioner));
  };
  const auto check = [&](bool is_given, const char* name) {
    check_amg(is_given, name);
    if (is_given && !options.has_given_order())
      throw InputError(fmt::format("{}: found with {}; expected rows in the given order", name,
                                   order_options(options)));
  };
  check_amg(!options.cycle.empty(), "--cycle");
  if (!options.cycle.empty() && options.preconditioner.find("cycle=") != std::string::npos)
    throw InputError("--cycle: found with --preconditioner " + options.preconditioner +
                     "; expected one of them");
  check(!options.near_null.empty(), "--near-null");
  check(!options.coordinates.empty(), "--coordinates");
  check(options.block_size > 0, "--block-size");
  if (!options.near_null.empty() && !options.coordinates.empty())
    throw InputError("--near-null: found with --coordinates; expected one of them");
}

/// Sets one field from its text. Throws comm_thread::InputError.
using Setter = std::function<void(SolveSettings& settings, const std::string& text)>;

struct Setting {
  const char* name;  // without the dashes
  Setter set;
};

void expect_one_of(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (word == text) return;
  throw InputError(fmt::format("found '{}'; expected {}", text, fmt::join(words, ", ")));
}

double number(const std::string& text, double least, bool may_be_least, const char* expected) {
  const auto value = comm_thread::number_in<double>(text);
  if (!value || std::isnan(*value) || *value < least || (*value == least && !may_be_least))
    throw InputError("found '" + text + "'; expected " + expected);
  return *value;
}

bool flag(const std::string& text) {
  expect_one_of(text, {"true", "false", "1", "0"});
  return text == "true" || text == "1";
}

Setter one_of(std::string SolveSettings::* field, std::vector<std::string> words) {
  return [field, words = std::move(words)](SolveSettings& settings, const std::string& text) {
    expect_one_of(text, words);
    settings.*field = text;
  };
}

/// In the order in which messages list them.
const std::vector<Setting>& table() {
  static const std::vector<Setting> all{
      {"method", one_of(&SolveSettings::method, method_names())},
      {"preconditioner",
       [](SolveSettings& settings, const std::string& text) {
         const std::string fault = fault_of_preconditioner(text);
         if (!fault.empty()) throw InputError(fault);
         settings.preconditioner = text;
         settings.has_preconditioner = true;
       }},
      {"null-space",
       [](SolveSettings& settings, const std::string& text) { settings.null_space = text; }},
      {"scale", one_of(&SolveSettings::scale, {"auto", "rows", "none"})},
      {"tolerance",
       [](SolveSettings& settings, const std::string& text) {
         settings.stop.tolerance = number(text, 0, true, "a number, 0 or more");
       }},
      {"absolute-tolerance",
       [](SolveSettings& settings, const std::string& text) {
         settings.stop.absolute_tolerance = number(text, 0, true, "a number, 0 or more");
       }},
      {"divergence",
       [](SolveSettings& settings, const std::string& text) {
         settings.stop.divergence = number(text, 1, false, "a number above 1");
       }},
      {"max-iterations",
       [](SolveSettings& settings, const std::string& text) {
         settings.stop.max_iterations =
             whole_number(text, text, 0, std::numeric_limits<std::int64_t>::max());
       }},
      {"max-seconds",
       [](SolveSettings& settings, const std::string& text) {
         settings.max_seconds = number(text, 0, false, "a number of seconds above 0");
       }},
      {"restart",
       [](SolveSettings& settings, const std::string& text) {
         settings.restart = static_cast<int>(whole_number(text, text, 1, 1000));
       }},
      {"mode", one_of(&SolveSettings::mode, spmv::mode_names())},
      {"multigrid",
       [](SolveSettings& settings, const std::string& text) {
         parse_multigrid(text);
         settings.multigrid = text;
       }},
      {"grid",
       [](SolveSettings& settings, const std::string& text) {
         parse_grid(text);
         settings.grid = text;
       }},
      {"cycle",
       [](SolveSettings& settings, const std::string& text) {
         parse_cycle(text);
         settings.cycle = text;
       }},
      {"near-null",
       [](SolveSettings& settings, const std::string& text) { settings.near_null = text; }},
      {"coordinates",
       [](SolveSettings& settings, const std::string& text) { settings.coordinates = text; }},
      {"block-size",
       [](SolveSettings& settings, const std::string& text) {
         settings.block_size =
             static_cast<int>(whole_number(text, text, 1, solver::amg::most_near_null_vectors));
       }},
      {"history",
       [](SolveSettings& settings, const std::string& text) { settings.has_history = flag(text); }},
      {"reuse-preconditioner",
       [](SolveSettings& settings, const std::string& text) {
         settings.reuses_preconditioner = flag(text);
       }},
      {"force",
       [](SolveSettings& settings, const std::string& text) { settings.force = flag(text); }},
      {"operator", one_of(&SolveSettings::operator_kind, {"matrix", "stencil"})},
      {"format", one_of(&SolveSettings::format, spmv::matrix_format_names())},
      {"order", one_of(&SolveSettings::order, {"given", "rcm", "auto"})},
      {"partition", one_of(&SolveSettings::partition, {"rows", "nonzeros", "metis"})},
      {"triangle", one_of(&SolveSettings::triangle, {"mirrored", "as-is"})},
      {"base", one_of(&SolveSettings::base, {"0", "1"})},
  };
  return all;
}

}  // namespace

solver::MatrixMultigrid::Grid parse_grid(const std::string& text) {
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

std::string fault_of_preconditioner(const std::string& text) {
  for (const char* const word :
       {"none", "jacobi", "multigrid", "isai", "isai:kind=general", "isai:kind=symmetric"})
    if (text == word) return "";
  try {
    if (is_amg(text))
      parse_amg(text);
    else if (is_block_factor(text))
      parse_block_factor(text);
    else if (is_schwarz(text))
      parse_schwarz(text, SchwarzPreconditioner::Kind::symmetric);
    else
      return "found '" + text +
             "'; expected none, jacobi, multigrid, amg[:...], isai[:kind=K], ilu0[:...], "
             "block-lu[:...] or schwarz[:overlap=G,subdomains=S,partition=P,kind=K]";
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

SolveSettings SolveSettings::parse(const std::map<std::string, std::string>& values) {
  SolveSettings settings;
  for (const auto& [name, text] : values) {
    const auto& known = table();
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const Setting& setting) { return setting.name == name; });
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const Setting& setting : known) names.emplace_back(setting.name);
      throw InputError(fmt::format("option {}: found an unknown name; expected {}", name,
                                   fmt::join(names, ", ")));
    }
    try {
      found->set(settings, text);
    } catch (const InputError& error) {
      throw InputError(fmt::format("option {}: {}", name, error.what()));
    }
  }
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
  } else if (is_schwarz(preconditioner)) {
    parsed = parse_schwarz(preconditioner, SchwarzPreconditioner::Kind::symmetric);
    if (is_file && preconditioner.find("partition=") == std::string::npos &&
        spmv::can_partition_graphs())
      parsed->partition = SchwarzPreconditioner::Partition::graph;
  }
  if (parsed) parsed->must_be_definite = needs_symmetric_preconditioner();
  return parsed;
}

std::optional<solver::IsaiPreconditioner::Form> SolveSettings::parsed_isai() const {
  using Form = solver::IsaiPreconditioner::Form;
  if (preconditioner_name() != "isai") return std::nullopt;
  if (preconditioner == "isai")
    return needs_symmetric_preconditioner() ? Form::symmetric : Form::general;
  return preconditioner == "isai:kind=symmetric" ? Form::symmetric : Form::general;
}

std::optional<solver::amg::Settings> SolveSettings::parsed_amg() const {
  if (!is_amg(preconditioner)) return std::nullopt;
  solver::amg::Settings defaults;
  if (amplifies_rounding()) defaults.precision = solver::amg::Settings::Precision::in_double;
  solver::amg::Settings parsed = parse_amg(preconditioner, defaults);
  if (!cycle.empty()) parsed.form = parse_cycle(cycle);
  return parsed;
}

solver::MultigridSettings SolveSettings::parsed_multigrid() const {
  solver::MultigridSettings defaults;
  defaults.is_double = amplifies_rounding();
  return parse_multigrid(multigrid, defaults);
}

bool SolveSettings::has_smoothing_steps() const {
  return multigrid.find("steps=") != std::string::npos;
}

std::optional<solver::MatrixMultigrid::Grid> SolveSettings::parsed_grid() const {
  if (grid.empty()) return std::nullopt;
  return parse_grid(grid);
}

void SolveSettings::check() const {
  check_amg_options(*this);
  const std::string name = preconditioner_name();
  if (is_matrix_free() && (parsed_schwarz() || parsed_isai() || parsed_amg()))
    throw InputError("--preconditioner: found " + name +
                     " with --operator stencil; expected --operator matrix, or " +
                     "--preconditioner multigrid");
  if (method == "pcg-jacobi" && has_preconditioner && preconditioner != "jacobi")
    throw InputError("--preconditioner: found " + name +
                     " with --method pcg-jacobi; expected --method cg");
  if (parsed_isai() == solver::IsaiPreconditioner::Form::general &&
      needs_symmetric_preconditioner())
    throw InputError("--preconditioner: found isai:kind=general with --method " + method +
                     "; expected --method gmres or bicgstab, because it is not symmetric");
  if (const auto found = parsed_schwarz())
    if (found->kind != SchwarzPreconditioner::Kind::symmetric && needs_symmetric_preconditioner())
      throw InputError("--preconditioner: found " + name +
                       ":kind=" + std::string(solver::name(found->kind)) + " with --method " +
                       method + "; expected --method gmres or fcg, because it is not symmetric");
  check_multigrid(*this);
  if (is_matrix_free() && scale == "rows")
    throw InputError("--scale: found rows with --operator stencil; expected a matrix");
  if (is_matrix_free() && !null_space.empty() && null_space != "none")
    throw InputError("--null-space: found with --operator stencil; expected a matrix");
  const solver::KrylovEntry* const chosen = solver::find_krylov_method(method);
  if (restart > 0 && !(chosen && chosen->has_restart))
    throw InputError("--restart: found with --method " + method +
                     "; expected --method gmres or fgmres");
  if (is_matrix_free() && (order != "given" || partition != "rows"))
    throw InputError(
        "--order, --partition: found with --operator stencil; expected --operator matrix, "
        "whose rows have an order");
  if (is_matrix_free() && format != "auto")
    throw InputError("--format: found with --operator stencil; expected a matrix");
  if (is_matrix_free() && !triangle.empty())
    throw InputError("--triangle: found with --operator stencil; expected a matrix");
  if (is_matrix_free() && !base.empty())
    throw InputError("--base: found with --operator stencil; expected a matrix");
}

}  // namespace weft::library
