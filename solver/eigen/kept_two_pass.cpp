#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "solver/checkpoint/system_checksum.h"
#include "solver/eigen/search_keeper.h"
#include "solver/eigen/two_pass_lanczos.h"

// What checkpoints keep of TwoPassLanczos.

namespace weft::solver {
namespace {

constexpr std::size_t counts_before = 2;  // numbers before those of the recurrence

/// Of a search with so many steps: the vectors of the recurrence and the result, α and β.
SearchKeeper::Size size_for(std::size_t steps) {
  return {.width = 1, .panels = 3, .numbers = counts_before + 2 * steps + 1};
}

}  // namespace

double TwoPassLanczos::kept_vector_count(std::int64_t rows, const EigenOptions& options) {
  const auto iterations = static_cast<std::size_t>(options.max_iterations);
  return static_cast<double>(size_for(iterations * steps_of_iteration).vector_count(rows));
}

SearchKeeper::Size TwoPassLanczos::state_size() const {
  return size_for(std::max(most_steps(), last_step()));
}

/// The state after some steps of either pass.
SearchState TwoPassLanczos::state() {
  SearchState kept;
  kept.panels = {even_->values(), odd_->values(), result_.data()};
  kept.numbers = {static_cast<double>(repeated_), static_cast<double>(alphas_.size())};
  kept.numbers.insert(kept.numbers.end(), alphas_.begin(), alphas_.end());
  kept.numbers.insert(kept.numbers.end(), betas_.begin(), betas_.end());
  return kept;
}

/// Prepares checkpoints, and takes the state that a search continues from. False if there is none.
bool TwoPassLanczos::collective_take_state() {
  if (!keeper_.is_used()) return false;
  SolveIdentity identity =
      identity_of("lanczos in two passes for eigenvalues", op_.global_row_count());
  identity.matrix = collective_matrix_checksum(op_, options_.mode);
  identity.preconditioner = text_checksum(name(options_.end));
  keeper_.collective_open(identity, state_size());
  if (!keeper_.has_state()) return false;
  SearchState kept = state();
  keeper_.collective_restore(kept);
  repeated_ = static_cast<std::size_t>(kept.numbers[0]);
  const auto steps = static_cast<std::ptrdiff_t>(kept.numbers[1]);
  const auto first = kept.numbers.begin() + counts_before;
  alphas_.assign(first, first + steps);
  betas_.assign(first + steps, first + 2 * steps + 1);
  has_found_ = is_found() || repeated_ > 0;
  if (keeper_.is_used()) keeper_.collective_resize(state_size());
  return true;
}

}  // namespace weft::solver
