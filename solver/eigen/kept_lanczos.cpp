#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "solver/checkpoint/system_checksum.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/eigen/search_keeper.h"

// What checkpoints keep of FilteredLanczos.

namespace weft::solver {

/// Calls carry(number) for each number of the state.
template <class Carry>
void FilteredLanczos::for_each_number(const Carry& carry) {
  carry(size_);
  carry(processed_);
  carry(random_columns_);
  carry(is_complete_space_);
  carry(has_looked_);
  carry(steps_);
  carry(restarts_);
  carry(products_before_);
  carry(unit_);
  carry(least_);
  carry(greatest_);
  carry(norm_);
  carry(filter_count_);
  carry(spaces_);
  carry(blocks_);
  carry(distance_);
  carry(trust_);
  carry(damped_from_);
  carry(polynomial_.center);
  carry(polynomial_.half);
  carry(polynomial_.sign);
  carry(polynomial_.degree);
  carry(polynomial_.factor);
  for (int column = 0; column < projection_.columns(); ++column)
    for (int row = 0; row < projection_.rows(); ++row) carry(projection_(row, column));
}

SearchState FilteredLanczos::state() {
  SearchState kept;
  for (int panel = 0; panel < size_; ++panel) kept.panels.push_back(basis_.panel(panel));
  const auto before = std::exchange(products_before_, product_count());
  for_each_number([&](auto& number) { kept.numbers.push_back(static_cast<double>(number)); });
  products_before_ = before;
  return kept;
}

/// Prepares checkpoints, and takes the state that a search continues from. False if there is none.
bool FilteredLanczos::collective_take_state() {
  if (!keeper_.is_used()) return false;
  std::size_t count = 0;
  for_each_number([&](auto& /*number*/) { ++count; });
  SolveIdentity identity = identity_of(
      keeper_.recurrence("lanczos for eigenvalues from an estimate"), op_.global_row_count());
  identity.matrix = collective_matrix_checksum(op_, options_.mode);
  identity.preconditioner =
      text_checksum(fmt::format("{} {} of {} {} {}", options_.count, name(options_.end), width(),
                                most_panels_, options_.degree));
  const int panels = most_panels_ + 1;
  keeper_.collective_open(identity, {.width = width(), .panels = panels, .numbers = count});
  if (!keeper_.has_state()) return false;
  SearchState kept;
  for (int panel = 0; panel < panels; ++panel) kept.panels.push_back(basis_.panel(panel));
  keeper_.collective_restore(kept);
  std::size_t next = 0;
  for_each_number([&](auto& number) {
    number = static_cast<std::remove_reference_t<decltype(number)>>(kept.numbers[next++]);
  });
  return true;
}

/// After a step: true if the search is to end.
bool FilteredLanczos::collective_ends_step() {
  if (processed_ > 0)
    is_stopped_ = keeper_.collective_ends(steps_, false, [this] { return state(); });
  return is_stopped_;
}

/// Keeps the state of a search that ends because it has restarted as often as it may.
void FilteredLanczos::collective_keep_last() {
  --restarts_;  // which what continues does again
  keeper_.collective_ends(steps_, true, [this] { return state(); });
  ++restarts_;
}

}  // namespace weft::solver
