#include "library/options/eigen_settings.h"

#include <string>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/options/mode_option.h"
#include "library/options/option_values.h"
#include "solver/eigen/eigen_report.h"

namespace weft::library {
namespace {

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
      {"which", OptionGroup::method, "end of the spectrum, by value and not by modulus",
       V::named<SpectrumEnd>(&Search::end,
                             {{solver::name(SpectrumEnd::smallest), SpectrumEnd::smallest},
                              {solver::name(SpectrumEnd::largest), SpectrumEnd::largest}})},
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
           "lanczos, or lobpcg for a mass matrix or with a preconditioner",
           V::named<EigenMethod>(&Search::method,
                                 {{solver::name(EigenMethod::automatic), EigenMethod::automatic},
                                  {solver::name(EigenMethod::lanczos), EigenMethod::lanczos},
                                  {solver::name(EigenMethod::lobpcg), EigenMethod::lobpcg}})},
          {"max-iterations", OptionGroup::rest, "steps of lobpcg",
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

solver::EigenMethod EigenSettings::chosen_method() const {
  using solver::EigenMethod;
  if (search.method != EigenMethod::automatic) return search.method;
  const bool has_input = has_own_input || !mass.empty() || preconditioner != "none";
  return has_input ? EigenMethod::lobpcg : EigenMethod::lanczos;
}

void EigenSettings::check_search() const {
  const bool is_lobpcg = chosen_method() == solver::EigenMethod::lobpcg;
  const std::string lanczos = comm_thread::option_name("method", "lanczos");
  const std::string lobpcg = comm_thread::option_name("method", "lobpcg");
  check_needs({{{"preconditioner", "mass", "max-iterations", "absolute-tolerance"},
                is_lobpcg,
                "with " + lanczos,
                lobpcg},
               {{"subspace", "degree", "max-restarts"}, !is_lobpcg, "with " + lobpcg, lanczos}},
              eigen_options(), *this);
  if (has_own_input && !is_lobpcg)
    throw comm_thread::InputError(lanczos + ": found matrices or vectors in memory; expected " +
                                  lobpcg);
  check();
}

const OptionTable<EigenSettings>& eigen_options() {
  static const OptionTable<EigenSettings> all = all_options();
  return all;
}

}  // namespace weft::library
