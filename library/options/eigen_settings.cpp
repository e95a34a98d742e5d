#include "library/options/eigen_settings.h"

#include "library/options/mode_option.h"
#include "library/options/option_values.h"
#include "solver/eigen/eigen_report.h"

namespace weft::library {

const OptionTable<solver::EigenOptions>& eigen_options() {
  using Search = solver::EigenOptions;
  using solver::Certificate;
  using solver::SpectrumEnd;
  using V = Values<Search>;
  constexpr NumberRange tolerances{.least = 1e-14, .most = 1, .expected = "1e-14 to 1"};
  static const OptionTable<Search> all{
      {"count", OptionGroup::method, "eigenvalues to find",
       V::whole(&Search::count, 1, 10'000, "COUNT")},
      {"which", OptionGroup::method, "end of the spectrum, by value and not by modulus",
       V::named<SpectrumEnd>(&Search::end,
                             {{solver::name(SpectrumEnd::smallest), SpectrumEnd::smallest},
                              {solver::name(SpectrumEnd::largest), SpectrumEnd::largest}})},
      {"tolerance", OptionGroup::method, "ends where ||A x - theta x|| is below this times ||A||",
       V::number(&Search::tolerance, tolerances)},
      {"block", OptionGroup::method,
       "vectors of a block; equal eigenvalues beyond that may be missed",
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
  return all;
}

}  // namespace weft::library
