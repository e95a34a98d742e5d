#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "library/api/agreed.h"
#include "library/api/guarded.h"
#include "library/api/matrix_state.h"
#include "library/include/weft/weft.hpp"
#include "library/options/eigen_settings.h"
#include "library/options/option.h"
#include "library/solve/solve_description.h"
#include "library/system/eigen_search.h"
#include "library/system/linear_system.h"
#include "library/system/vector_map.h"
#include "solver/eigen/eigen_report.h"

namespace weft {
inline namespace v0 {
namespace {

/// The vectors in the caller's rows, the entries of a row together. Collective.
std::vector<double> collective_vectors(const library::LinearSystem& system,
                                       const library::EigenSearch& search, std::size_t count) {
  library::VectorMap& map = system.map();
  std::vector<double> own(map.given_count());
  std::vector<double> all(map.given_count() * count);
  for (std::size_t number = 0; number < count; ++number) {
    map.collective_from_operator(search.collective_vector(static_cast<int>(number)), own);
    for (std::size_t row = 0; row < own.size(); ++row) all[row * count + number] = own[row];
  }
  return all;
}

Eigenvalues result_of(const solver::EigenReport& found) {
  Eigenvalues result;
  result.status = library::status_of(found.status);
  for (const solver::EigenPair& pair : found.pairs) {
    result.values.push_back(pair.value);
    result.residuals.push_back(pair.residual);
    result.error_bounds.push_back(pair.error_bound);
  }
  result.is_complete = found.completeness.is_shown;
  result.statement = found.completeness.statement + ": " + found.completeness.why;
  result.missing = found.completeness.missing;
  result.norm = found.norm;
  result.products = found.products;
  result.restarts = found.restarts;
  result.seconds = found.seconds;
  return result;
}

/// Vectors of the caller in the layout of the operator. Collective.
solver::StartVectors collective_start_of(const Matrix::State& state, const EigenInput& input) {
  library::VectorMap& map = state.system->map();
  const auto count = static_cast<std::size_t>(std::max(0, input.start_count));
  const bool fits = input.start.size() == map.given_count() * count;
  comm_thread::collective_agree_on_error(
      state.space,
      fits ? ""
           : fmt::format("start of rank {}: found {} entries; expected {} for each of "
                         "{} rows",
                         state.space.rank(), input.start.size(), count, map.given_count()));
  std::vector<double> all(state.system->element_count() * count);
  std::vector<double> given(map.given_count());
  std::vector<double> values(state.system->element_count());
  for (std::size_t number = 0; number < count; ++number) {
    for (std::size_t row = 0; row < given.size(); ++row)
      given[row] = input.start[row * count + number];
    map.collective_to_operator(given, values);
    for (std::size_t row = 0; row < values.size(); ++row) all[row * count + number] = values[row];
  }
  return {.values = std::move(all), .count = static_cast<int>(count)};
}

}  // namespace

Eigenvalues eigenvalues(const Matrix& matrix, const Options& options, Eigenvectors vectors,
                        const EigenInput& input) {
  return library::guarded([&] {
    Matrix::State& state = *matrix.state();
    state.job->roll_call.collective_answer("a search for eigenvalues");
    library::EigenSettings settings;
    library::collective_agree_on(state.space, "eigenvalues", "", options, [&] {
      library::read_options(options.all(), library::eigen_options(), settings);
      const bool is_lanczos = settings.search.method == solver::EigenMethod::lanczos;
      settings.has_own_input =
          input.mass || input.preconditioner || (input.start_count > 0 && !is_lanczos);
      settings.check_search();
      if (!input.preconditioner) settings.choose_preconditioner();
    });
    library::EigenInput used{.start = collective_start_of(state, input)};
    if (used.start.count > settings.search.count)
      throw comm_thread::InputError(
          fmt::format("start: found {} vectors; expected at most count = {}", used.start.count,
                      settings.search.count));
    if (input.mass) used.mass = input.mass->state()->system.get();
    if (input.preconditioner) used.preconditioner = input.preconditioner->state()->system.get();
    library::EigenSearch search(*state.system, settings, nullptr, std::move(used));
    Eigenvalues result = result_of(search.collective_solve());
    if (vectors == Eigenvectors::own_rows)
      result.vectors = collective_vectors(*state.system, search, result.values.size());
    return result;
  });
}

}  // namespace v0
}  // namespace weft
