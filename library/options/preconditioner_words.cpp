#include "library/options/preconditioner_words.h"

#include <cstdint>
#include <limits>

#include "comm_thread/mpi/input_error.h"
#include "library/options/nested_options.h"
#include "library/options/option_values.h"
#include "solver/amg/polynomial.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using solver::MultigridSettings;
using AmgSettings = solver::amg::Settings;
using CycleForm = AmgSettings::Form;
using Schwarz = solver::SchwarzPreconditioner::Options;
using solver::SchwarzPreconditioner;

constexpr std::int64_t most_direct_rows = 4000;
constexpr std::int64_t most_gather_rows = std::int64_t{1} << 40;
constexpr std::int64_t most_counted = std::numeric_limits<std::int32_t>::max();

/// An option that was removed, or has one value left.
template <class Settings>
OptionOf<Settings> former(const char* name, const char* kept, const char* removed,
                          const char* why) {
  const auto read = [=](Settings&, const std::string& word, const std::string& item) {
    if (word == kept) return;
    if (word == removed) throw InputError("found '" + item + "', which was removed " + why);
    throw InputError("found '" + item + "'; expected none");
  };
  return {name, OptionGroup::rest, "", {read, [](const Settings&) { return ""; }, ""}};
}

Schwarz read_schwarz(Schwarz options, const std::string& text) {
  options = read_nested(text, schwarz_options(), options);
  if (has_nested_option(text, "shift") && options.kind != SchwarzPreconditioner::Kind::optimized)
    throw InputError("found shift without kind=optimized; expected both");
  return options;
}

}  // namespace

ValueOf<AmgSettings> amg_cycle() {
  auto value = Values<AmgSettings>::named<CycleForm>(
      &AmgSettings::form,
      {{"V", CycleForm::v}, {"W", CycleForm::w}, {"auto", CycleForm::automatic}});
  value.read = [read = value.read](AmgSettings& settings, const std::string& word,
                                   const std::string&) {
    const std::string found = "found the cycle '" + word + "'";
    if (word == "additive")
      throw InputError(found +
                       ", which was removed because V takes fewer iterations in the same time; "
                       "expected V or none");
    if (word == "K")
      throw InputError(found +
                       ", which was removed because V and W take less time and work with any "
                       "method; expected V, W or none");
    if (word != "V" && word != "W" && word != "auto")
      throw InputError(found + "; expected V, W or auto");
    read(settings, word, word);
  };
  return value;
}

std::string name_of(CycleForm form) {
  AmgSettings settings;
  settings.form = form;
  return amg_cycle().show(settings);
}

const OptionTable<AmgSettings>& amg_options() {
  using V = Values<AmgSettings>;
  using Precision = AmgSettings::Precision;
  static const OptionTable<AmgSettings> all{
      {"strength", OptionGroup::rest,
       "share of a row's strongest coupling from which one is strong",
       V::number(&AmgSettings::strength, from_0_to_1, "S")},
      {"degree", OptionGroup::rest, "degree of the smoothing polynomial, 1 to 4",
       V::whole(&AmgSettings::degree, 1, solver::amg::Polynomial::most_degree, "K")},
      {"direct", OptionGroup::rest, "rows up to which a level is solved directly",
       V::whole(&AmgSettings::direct_rows, 1, most_direct_rows, "N")},
      {"gather", OptionGroup::rest,
       "a level moves to fewer ranks where one has fewer rows;\n"
       "    auto: 1000, and to one rank where exchanges take long",
       V::whole(&AmgSettings::gather_rows, 1, most_gather_rows, "R|auto", "auto")},
      {"precision", OptionGroup::rest, "of the levels",
       V::named<Precision>(&AmgSettings::precision,
                           {{"single", Precision::in_float}, {"double", Precision::in_double}})},
      {"cycle", OptionGroup::rest, "visits of the levels, as --cycle", amg_cycle()}};
  return all;
}

const OptionTable<MultigridSettings>& multigrid_options() {
  using V = Values<MultigridSettings>;
  static const OptionTable<MultigridSettings> all{
      {"steps", OptionGroup::rest,
       "smoothing steps before and after each coarser grid, 1 to 4;\n"
       "    4 where coefficients vary and nothing is said",
       V::whole(&MultigridSettings::steps, 1, MultigridSettings::most_steps, "S")},
      {"start", OptionGroup::rest,
       "x before the first iteration, 0 or, of the method, by full\n"
       "    multigrid: interpolated from solutions on coarser grids",
       V::named<bool>(&MultigridSettings::has_full_start, {{"zero", false}, {"full", true}})},
      {"precision", OptionGroup::rest, "of the hierarchy; x, b and the residual are double",
       V::named<bool>(&MultigridSettings::is_double, {{"single", false}, {"double", true}})},
      {"gather", OptionGroup::rest,
       "a grid moves to fewer ranks where one has fewer than N points\n"
       "    in a direction that is cut; auto: by a model of measured messages",
       V::whole(&MultigridSettings::least_points, 1, most_counted, "N|auto", "auto")},
      former<MultigridSettings>("cycle", "v", "additive",
                                "because the V-cycle is as quick; expected no cycle")};
  return all;
}

const OptionTable<Schwarz>& schwarz_options() {
  using V = Values<Schwarz>;
  using Kind = SchwarzPreconditioner::Kind;
  using Partition = SchwarzPreconditioner::Partition;
  static const OptionTable<Schwarz> all{
      {"overlap", OptionGroup::rest, "layers by which subdomains grow, 0 to 64",
       V::whole(&Schwarz::overlap, 0, Schwarz::most_overlap, "G")},
      {"subdomains", OptionGroup::rest, "0: as many as suit, of about 4096 rows, of ilu0 8192",
       V::whole(&Schwarz::piece_count, 0, most_counted, "S")},
      {"partition", OptionGroup::rest,
       "consecutive rows, or parts of each rank's graph, which is\n"
       "    the default of schwarz for files in builds with METIS",
       V::named<Partition>(&Schwarz::partition,
                           {{"rows", Partition::rows}, {"metis", Partition::graph}})},
      {"kind", OptionGroup::rest, "restricted or optimized: for gmres and fcg",
       V::named<Kind>(&Schwarz::kind, {{"symmetric", Kind::symmetric},
                                       {"restricted", Kind::restricted},
                                       {"optimized", Kind::optimized}})},
      {"shift", OptionGroup::rest,
       "condition between subdomains of optimized, from 1 (as restricted)\n"
       "    towards 0 (Neumann)",
       V::number(&Schwarz::shift, above_0_to_1, "P")}};
  return all;
}

AmgSettings parse_amg(const std::string& word) {
  return read_nested(text_behind_colon(word), amg_options());
}

MultigridSettings parse_multigrid(const std::string& text) {
  return read_nested(text, multigrid_options());
}

bool is_block_factor(const std::string& word) {
  const std::string name = word_before_colon(word);
  return name == "ilu0" || name == "block-lu";
}

Schwarz parse_block_factor(const std::string& word) {
  Schwarz options = read_schwarz({.overlap = 0}, text_behind_colon(word));
  options.solver =
      word_before_colon(word) == "ilu0" ? Schwarz::Solver::incomplete : Schwarz::Solver::lu;
  return options;
}

Schwarz parse_schwarz(const std::string& word, SchwarzPreconditioner::Kind by_default) {
  return read_schwarz({.kind = by_default}, text_behind_colon(word));
}

void check_preconditioner(const std::string& word) {
  const std::string name = word_before_colon(word);
  const bool is_plain = name == word;
  if (is_plain && (name == "none" || name == "jacobi" || name == "multigrid" || name == "isai"))
    return;
  if (name == "isai")
    expect_one_of(text_behind_colon(word), word, {"kind=general", "kind=symmetric"});
  else if (name == "amg")
    static_cast<void>(parse_amg(word));
  else if (name == "schwarz")
    static_cast<void>(parse_schwarz(word, SchwarzPreconditioner::Kind::symmetric));
  else if (is_block_factor(word))
    static_cast<void>(parse_block_factor(word));
  else
    throw InputError("found '" + word +
                     "'; expected none, jacobi, multigrid, amg[:...], isai[:kind=K], ilu0[:...], "
                     "block-lu[:...] or schwarz[:overlap=G,subdomains=S,partition=P,kind=K]");
}

std::string help_of_preconditioners() {
  return "jacobi: the diagonal; multigrid: one V-cycle, for grids and for matrices with --grid;\n"
         "isai[:kind=general|symmetric]: a sparse approximate inverse with the pattern of the\n"
         "matrix; symmetric, a product of two triangles, where the method needs that;\n"
         "amg[:OPTION=VALUE,...]: algebraic multigrid for symmetric positive definite matrices\n"
         "of any origin, with" +
         help_of_nested(amg_options()) +
         "\nschwarz[:OPTION=VALUE,...]: additive Schwarz, each subdomain solved by CHOLMOD, or\n"
         "by KLU where it is not symmetric positive definite and the method allows it, with" +
         help_of_nested(schwarz_options()) +
         "\nilu0[:OPTION=VALUE,...], block-lu[:...]: the same without overlap, solved by ILU(0) or "
         "KLU";
}

}  // namespace weft::library
