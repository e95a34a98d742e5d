#include "library/options/spectrum_settings.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/options/interval_option.h"
#include "library/options/mode_option.h"
#include "library/options/option_values.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::number_in;

constexpr const char* lorentz = "lorentz";

/// The kernel and, for lorentz, lambda.
std::pair<solver::MomentKernel, double> parse_kernel(const std::string& text) {
  const double usual = solver::DensityOptions{}.lambda;
  if (text == "jackson") return {solver::MomentKernel::jackson, usual};
  if (text == lorentz) return {solver::MomentKernel::lorentz, usual};
  const std::string beginning = std::string(lorentz) + ":";
  if (text.starts_with(beginning)) {
    const auto lambda = number_in<double>(std::string_view(text).substr(beginning.size()));
    if (lambda && *lambda > 0 && *lambda <= 100) return {solver::MomentKernel::lorentz, *lambda};
  }
  throw InputError("found the kernel '" + text +
                   "'; expected jackson, lorentz or lorentz:LAMBDA, a number above 0 up to 100");
}

}  // namespace

solver::DensityOptions SpectrumSettings::options() const {
  solver::DensityOptions options = numbers;
  options.width = block == "auto" ? 0 : std::stoi(block);
  std::tie(options.kernel, options.lambda) = parse_kernel(kernel);
  if (!interval.empty()) options.counted = parse_interval(interval);
  return options;
}

const OptionTable<SpectrumSettings>& spectrum_options() {
  using V = Values<SpectrumSettings>;
  static const OptionTable<SpectrumSettings> all{
      {"moments", OptionGroup::method,
       "of Chebyshev polynomials, two of a product\n"
       "the resolution is pi times half of the spectrum's width over this number",
       V::whole([](auto& s) -> auto& { return s.numbers.moments; }, 2, 1'000'000, "M")},
      {"vectors", OptionGroup::method,
       "random vectors\ntheir choice changes counts of N eigenvalues by about sqrt(2 N / vectors)",
       V::whole([](auto& s) -> auto& { return s.numbers.vectors; }, 1, 1'000'000, "R")},
      {"kernel", OptionGroup::method,
       "shape of a peak\n"
       "jackson: Gaussian; lorentz, lorentz:LAMBDA: Lorentzian, for Green's functions",
       V::checked(&SpectrumSettings::kernel, parse_kernel, "jackson|lorentz[:LAMBDA]")},
      {"interval", OptionGroup::method,
       "A:B: count the eigenvalues from A to B\nwith the uncertainty of their number",
       V::checked(&SpectrumSettings::interval, parse_interval, "RANGE")},
      {"points", OptionGroup::output,
       "energies at which the density is shown\n0: twice as many as moments",
       V::whole([](auto& s) -> auto& { return s.numbers.points; }, 0, 1'000'000, "N")},
      {"seed", OptionGroup::rest, "of the random vectors",
       V::whole([](auto& s) -> auto& { return s.numbers.seed; }, 0,
                std::numeric_limits<std::int64_t>::max(), "SEED")},
      {"block", OptionGroup::run, "vectors multiplied at once\nresults have the same bits",
       V::one_of(&SpectrumSettings::block, {"auto", "1", "2", "4", "8", "16"})},
      {"mode", OptionGroup::run, "how products communicate",
       mode_value<SpectrumSettings>([](auto& s) -> auto& { return s.numbers.mode; })}};
  return all;
}

}  // namespace weft::library
