#include <cstddef>
#include <vector>

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

}  // namespace

Eigenvalues eigenvalues(const Matrix& matrix, const Options& options, Eigenvectors vectors) {
  return library::guarded([&] {
    Matrix::State& state = *matrix.state();
    state.job->roll_call.collective_answer("a search for eigenvalues");
    library::EigenSettings settings;
    library::collective_agree_on(state.space, "eigenvalues", "", options, [&] {
      library::read_options(options.all(), library::eigen_options(), settings);
      settings.check_search();
    });
    library::EigenSearch search(*state.system, settings);
    Eigenvalues result = result_of(search.collective_solve());
    if (vectors == Eigenvectors::own_rows)
      result.vectors = collective_vectors(*state.system, search, result.values.size());
    return result;
  });
}

}  // namespace v0
}  // namespace weft
