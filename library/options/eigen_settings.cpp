#include "library/options/eigen_settings.h"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "comm_thread/mpi/option_name.h"
#include "library/options/interval_option.h"
#include "library/options/mode_option.h"
#include "library/options/option_values.h"
#include "solver/eigen/eigen_report.h"

namespace weft::library {
namespace {

using comm_thread::number_in;

constexpr std::string_view near_word = "near:";
constexpr const char* both_word = "both";

/// The part of the spectrum that a word stands for.
void read_which(solver::EigenOptions& search, const std::string& word) {
  using solver::SpectrumEnd;
  using solver::SpectrumPart;
  search.part = SpectrumPart::end;
  search.end = SpectrumEnd::smallest;
  if (word == solver::name(SpectrumEnd::smallest)) return;
  if (word == solver::name(SpectrumEnd::largest)) {
    search.end = SpectrumEnd::largest;
  } else if (word == both_word) {
    search.part = SpectrumPart::both;
  } else {
    const auto sigma = word.starts_with(near_word)
                           ? number_in<double>(std::string_view(word).substr(near_word.size()))
                           : std::nullopt;
    if (!sigma || !std::isfinite(*sigma))
      throw comm_thread::InputError("found '" + word +
                                    "'; expected smallest, largest, both or near:SIGMA, a number");
    search.part = SpectrumPart::near;
    search.sigma = *sigma;
  }
}

ValueOf<solver::EigenOptions> which_value() {
  return {[](solver::EigenOptions& search, const std::string& word, const std::string&) {
            read_which(search, word);
          },
          which_of, "smallest|largest|both|near:SIGMA"};
}

ValueOf<solver::EigenOptions> interval_value() {
  return {[](solver::EigenOptions& search, const std::string& word, const std::string&) {
            search.interval = parse_interval(word);
          },
          interval_of, "RANGE"};
}

/// Those of the search alone.
OptionTable<solver::EigenOptions> search_options() {
  using Search = solver::EigenOptions;
  using solver::Certificate;
  using solver::SpectrumEnd;
  using V = Values<Search>;
  constexpr NumberRange tolerances{.least = 1e-14, .most = 1, .expected = "1e-14 to 1"};
  return {
      {"count", OptionGroup::method, "eigenvalues to find",
       V::whole(&Search::count, 1, 10'000, "COUNT")},
      {"which", OptionGroup::method,
       "from an end of the spectrum, by value and not by modulus, or nearest to a number\n"
       "both: half of --count from each end",
       which_value()},
      {"interval", OptionGroup::method, "A:B: all eigenvalues from A to B, instead of --count",
       interval_value()},
      {"tolerance", OptionGroup::method, "ends where ||A x - theta x|| is below this times ||A||",
       V::number(&Search::tolerance, tolerances)},
      {"block", OptionGroup::method, "vectors of a block; 1 may miss copies of equal eigenvalues",
       V::named<int>(&Search::width, {{"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}})},
      {"subspace", OptionGroup::rest,
       "vectors of the search space; 0: four times --count, at least 40",
       V::whole(&Search::subspace, 0, 100'000, "COUNT")},
      {"degree", OptionGroup::rest, "of the Chebyshev filter; 0: from the spectrum",
       V::whole(&Search::degree, 0, 10'000, "COUNT")},
      {"max-restarts", OptionGroup::rest, "of the search space",
       V::whole(&Search::max_restarts, 0, 1'000'000, "COUNT")},
      {"certificate", OptionGroup::method,
       "counts eigenvalues by a factorization: where that is cheap, where it fits, or not",
       V::named<Certificate>(&Search::certificate,
                             {{solver::name(Certificate::automatic), Certificate::automatic},
                              {solver::name(Certificate::inertia), Certificate::inertia},
                              {solver::name(Certificate::none), Certificate::none}})},
      {"mode", OptionGroup::rest, "how products communicate", mode_value<Search>(&Search::mode)}};
}

/// Those that say by which method.
OptionTable<solver::EigenOptions> method_options() {
  using Search = solver::EigenOptions;
  using solver::EigenMethod;
  using V = Values<Search>;
  return {{"method", OptionGroup::method,
           "by default the one that fits\n"
           "lanczos: from an end; lanczos-two-pass: one value, in the memory of four vectors\n"
           "lobpcg: with a mass matrix or a preconditioner; filter: near a number, in an interval",
           V::named<EigenMethod>(
               &Search::method,
               {{solver::name(EigenMethod::automatic), EigenMethod::automatic},
                {solver::name(EigenMethod::lanczos), EigenMethod::lanczos},
                {solver::name(EigenMethod::lanczos_two_pass), EigenMethod::lanczos_two_pass},
                {solver::name(EigenMethod::lobpcg), EigenMethod::lobpcg},
                {solver::name(EigenMethod::filter), EigenMethod::filter}})},
          {"max-iterations", OptionGroup::rest,
           "steps of lobpcg, and of lanczos-two-pass, four at a time",
           V::whole(&Search::max_iterations, 0, 1'000'000, "COUNT")},
          {"absolute-tolerance", OptionGroup::rest,
           "of lobpcg: ends, too, where ||A x - theta B x|| is below this number",
           V::number(&Search::absolute_tolerance, {.expected = "a number from 0"})}};
}

/// An option of the search as one of all settings.
OptionOf<EigenSettings> of_settings(const OptionOf<solver::EigenOptions>& option) {
  const ValueOf<solver::EigenOptions>& value = option.value;
  return {option.name,
          option.group,
          option.help,
          {[read = value.read](EigenSettings& settings, const std::string& word,
                               const std::string& item) { read(settings.search, word, item); },
           [show = value.show](const EigenSettings& settings) { return show(settings.search); },
           value.type,
           value.limits,
           {},
           value.is_list}};
}

OptionTable<EigenSettings> all_options() {
  OptionTable<EigenSettings> all;
  for (const auto& table : {search_options(), method_options()})
    for (const auto& option : table) all.push_back(of_settings(option));
  all.push_back({"mass", OptionGroup::method,
                 "B of A x = lambda B x, a file or problem; consistent: that of elasticity3d",
                 Values<EigenSettings>::text(&EigenSettings::mass, "FILE|consistent")});
  all.push_back({"start", OptionGroup::method,
                 "vectors to begin with, as columns, random ones beside them\n"
                 "lanczos: as many as a block has at most; lobpcg: as many as values",
                 Values<EigenSettings>::text(&EigenSettings::start, "FILE")});
  all.push_back({"max-seconds", OptionGroup::method,
                 "ends after this time\nset-up not counted, with exit code 6 and the pairs found",
                 Values<EigenSettings>::number(
                     &EigenSettings::max_seconds,
                     {.has_least = false, .expected = "a number of seconds above 0"}, "SECONDS")});
  OptionTable<SolveSettings> of_preconditioner;
  for (const char* const name : {"preconditioner", "near-null", "coordinates", "block-size"})
    of_preconditioner.push_back(*find_option(solve_options(), name));
  append(all, of_preconditioner);
  return all;
}

}  // namespace

std::string which_of(const solver::EigenOptions& search) {
  if (search.part == solver::SpectrumPart::both) return both_word;
  if (search.part == solver::SpectrumPart::near)
    return fmt::format("{}{}", near_word, search.sigma);
  return solver::name(search.end);
}

std::string interval_of(const solver::EigenOptions& search) {
  if (!search.interval) return {};
  return fmt::format("{}:{}", search.interval->begin, search.interval->end);
}

solver::EigenMethod EigenSettings::chosen_method() const {
  using solver::EigenMethod;
  if (search.method != EigenMethod::automatic) return search.method;
  if (search.is_interior()) return EigenMethod::filter;
  const bool has_input = has_own_input || !mass.empty() || preconditioner != "none";
  return has_input ? EigenMethod::lobpcg : EigenMethod::lanczos;
}

std::string EigenSettings::why_method() const {
  if (search.method != solver::EigenMethod::automatic) return "asked for";
  if (search.is_interior()) return "the values are not at an end of the spectrum";
  if (!mass.empty()) return "there is a mass matrix";
  if (preconditioner != "none") return "there is a preconditioner";
  return "the values are at an end of the spectrum, and there is no preconditioner";
}

void EigenSettings::check_search() const {
  using comm_thread::InputError;
  using comm_thread::option_name;
  using solver::EigenMethod;
  const EigenMethod used = chosen_method();
  const std::string chosen = option_name("method", solver::name(used));
  const std::string lanczos = option_name("method", "lanczos");
  const std::string lobpcg = option_name("method", "lobpcg");
  const bool is_lobpcg = used == EigenMethod::lobpcg;
  const bool is_two_pass = used == EigenMethod::lanczos_two_pass;
  check_needs(
      {{{"count", "which"}, !search.interval, "with " + option_name("interval"), "one of both"},
       {{"preconditioner", "mass", "absolute-tolerance"}, is_lobpcg, "with " + chosen, lobpcg},
       {{"start"},
        is_lobpcg || (used == EigenMethod::lanczos && search.part != solver::SpectrumPart::both),
        search.part == solver::SpectrumPart::both ? "with " + option_name("which", both_word)
                                                  : "with " + chosen,
        lanczos + " or " + solver::name(EigenMethod::lobpcg)},
       {{"max-iterations"},
        is_lobpcg || is_two_pass,
        "with " + chosen,
        lobpcg + " or " + solver::name(EigenMethod::lanczos_two_pass)},
       {{"block"}, !is_two_pass, "with " + chosen, lanczos},
       {{"count"}, !is_two_pass, "with " + chosen, "one value, or " + lanczos},
       {{"subspace", "degree", "max-restarts"},
        !is_lobpcg && !is_two_pass,
        "with " + chosen,
        lanczos}},
      eigen_options(), *this);
  if (has_own_input && !is_lobpcg)
    throw InputError(chosen + ": found matrices or vectors in memory; expected " + lobpcg);
  check_part();
  check();
}

void EigenSettings::choose_preconditioner() {
  const bool helps =
      chosen_method() == solver::EigenMethod::lobpcg && search.end == solver::SpectrumEnd::smallest;
  if (helps && !has_preconditioner) preconditioner = "amg";
}

/// Throws where the method does not search that part of the spectrum.
void EigenSettings::check_part() const {
  using comm_thread::InputError;
  using comm_thread::option_name;
  using solver::EigenMethod;
  const EigenMethod used = chosen_method();
  const std::string chosen = option_name("method", solver::name(used));
  const std::string what =
      search.interval ? option_name("interval") : option_name("which", which_of(search));
  if (search.is_interior() != (used == EigenMethod::filter))
    throw InputError(chosen + ": found " + what + "; expected " +
                     (search.is_interior()
                          ? option_name("method", "filter")
                          : option_name("which", "near:SIGMA") + " or " + option_name("interval")));
  if (search.part == solver::SpectrumPart::both) {
    if (used != EigenMethod::lanczos)
      throw InputError(what + ": found with " + chosen + "; expected " +
                       option_name("method", "lanczos"));
    if (search.count < 2)
      throw InputError(what + ": found " + option_name("count", "1") + "; expected 2 or more");
  }
}

const OptionTable<EigenSettings>& eigen_options() {
  static const OptionTable<EigenSettings> all = all_options();
  return all;
}

}  // namespace weft::library
