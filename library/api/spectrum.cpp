#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "library/api/agreed.h"
#include "library/api/guarded.h"
#include "library/api/matrix_state.h"
#include "library/include/weft/weft.hpp"
#include "library/options/option.h"
#include "library/options/spectrum_settings.h"
#include "library/system/expected_symmetry.h"
#include "library/system/vector_map.h"
#include "solver/spectrum/spectral_density.h"
#include "solver/spectrum/spectrum_report.h"

namespace weft {
inline namespace v0 {
namespace {

/// A vector of the caller in the layout of the operator; none if it is empty on all ranks.
std::optional<std::vector<double>> collective_own_vector(const Matrix::State& state,
                                                         const char* what,
                                                         std::span<const double> given) {
  library::VectorMap& map = state.system->map();
  const auto longest = state.space.max(static_cast<double>(given.size()));
  const bool is_whole = given.size() == map.given_count() || longest == 0;
  comm_thread::collective_agree_on_error(
      state.space, is_whole
                       ? ""
                       : fmt::format("{} of rank {}: found {} entries; expected {}, one for "
                                     "each row of the rank",
                                     what, state.space.rank(), given.size(), map.given_count()));
  if (longest == 0) return std::nullopt;
  std::vector<double> values(state.system->element_count());
  map.collective_to_operator(given, values);
  return values;
}

SpectralDensity result_of(solver::SpectrumReport&& found) {
  SpectralDensity density{.energies = std::move(found.energies),
                          .density = std::move(found.density),
                          .errors = std::move(found.error),
                          .moments = std::move(found.moments),
                          .least = found.interval.least,
                          .greatest = found.interval.greatest,
                          .resolution = found.resolution,
                          .products = found.products};
  if (found.count) {
    density.count = found.count->value;
    density.count_uncertainty = found.count->uncertainty();
  }
  return density;
}

}  // namespace

SpectralDensity spectral_density(const Matrix& matrix, const Options& options,
                                 std::span<const double> v, std::span<const double> w) {
  return library::guarded([&] {
    Matrix::State& state = *matrix.state();
    state.job->roll_call.collective_answer("a spectral density");
    solver::DensityOptions wanted;
    library::collective_agree_on(state.space, "spectral_density", "", options, [&] {
      library::SpectrumSettings settings;
      library::read_options(options.all(), library::spectrum_options(), settings);
      wanted = settings.options();
    });
    const auto first = collective_own_vector(state, "v", v);
    const auto second = collective_own_vector(state, "w", w);
    if (second && !first)
      throw comm_thread::InputError("w: found without v; expected both vectors");
    library::collective_expect_symmetry(*state.system);
    spmv::SparseOperator& op = *state.system->matrix_operator();
    return result_of(first ? solver::collective_spectral_function(op, wanted, *first, second)
                           : solver::collective_spectral_density(op, wanted));
  });
}

}  // namespace v0
}  // namespace weft
