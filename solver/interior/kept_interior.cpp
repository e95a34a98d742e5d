#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "solver/checkpoint/system_checksum.h"
#include "solver/eigen/search_keeper.h"
#include "solver/interior/filtered_space.h"
#include "solver/interior/interior_lanczos.h"

// What checkpoints keep of InteriorLanczos.

namespace weft::solver {
namespace {

constexpr const char* state_name = "filter for eigenvalues";

/// What is looked for, and what the filter and the space follow from.
std::string text_of(const EigenOptions& options) {
  const std::string what =
      options.interval ? fmt::format("{} to {}", options.interval->begin, options.interval->end)
                       : fmt::format("{} near {}", options.count, options.sigma);
  return fmt::format("{} of {} {} {}", what, options.width, options.subspace, options.degree);
}

}  // namespace

/// Calls carry(number) for each number of the state.
template <class Carry>
void InteriorLanczos::for_each_number(const Carry& carry) {
  carry(unit_);
  carry(norm_);
  for (EnergyRange* const range : {&first_range_, &filter_range_}) {
    carry(range->begin);
    carry(range->end);
  }
  carry(spectrum_.least);
  carry(spectrum_.greatest);
  carry(restarts_);
  carry(blocks_);
  carry(filters_);
  carry(steps_);
  carry(earlier_products_);
  space_->for_each_number(carry);
}

double InteriorLanczos::kept_vector_count(std::int64_t rows, const EigenOptions& options) {
  constexpr std::size_t scalars = 17;  // at most
  const int panels = fitting_panels(rows, options.count, options);
  const auto width = static_cast<std::size_t>(options.width);
  const auto size = static_cast<std::size_t>(panels) * width;
  const SearchKeeper::Size state{.width = options.width,
                                 .panels = panels + 1,
                                 .numbers = scalars + size * size + width * width};
  return static_cast<double>(state.vector_count(rows));
}

/// For the states of the present space. Not used: nothing.
void InteriorLanczos::collective_prepare_keeper() {
  if (!keeper_.is_used()) return;
  std::size_t numbers = 0;
  for_each_number([&](auto& /*number*/) { ++numbers; });
  const SearchKeeper::Size size{
      .width = width_, .panels = space_->panels() + 1, .numbers = numbers};
  if (keeper_.is_open())
    keeper_.collective_resize(size);
  else
    keeper_.collective_open(collective_identity(), size);
}

SolveIdentity InteriorLanczos::collective_identity() {
  SolveIdentity identity = identity_of(state_name, op_.global_row_count());
  identity.matrix = collective_matrix_checksum(op_, options_.mode);
  identity.preconditioner = text_checksum(text_of(options_));
  return identity;
}

SearchState InteriorLanczos::state() {
  SearchState kept;
  for (int panel = 0; panel < space_->size(); ++panel) kept.panels.push_back(space_->panel(panel));
  const auto before = std::exchange(earlier_products_, product_count());
  for_each_number([&](auto& number) { kept.numbers.push_back(static_cast<double>(number)); });
  earlier_products_ = before;
  return kept;
}

/// Takes the state that a search continues from, with its space. False if there is none.
bool InteriorLanczos::collective_take_state() {
  if (!hooks_.has_state_of(state_name)) return false;
  keeper_.collective_open(collective_identity(), {.width = width_, .panels = 1, .numbers = 0});
  const int panels = keeper_.size().panels;
  space_.emplace(op_, width_, panels - 1, more_panels, options_.mode);
  SearchState kept;
  for (int panel = 0; panel < panels; ++panel) kept.panels.push_back(space_->panel(panel));
  keeper_.collective_restore(kept);
  std::size_t next = 0;
  for_each_number([&](auto& number) {
    number = static_cast<std::remove_reference_t<decltype(number)>>(kept.numbers[next++]);
  });
  series_ = series_for(filter_range_);
  return true;
}

/// After a step: true if the search is to end. Keeps the last state where it restarts no more, too.
bool InteriorLanczos::collective_ends_step() {
  ++steps_;
  const bool is_over =
      restarts_ >= options_.max_restarts && space_->processed() == space_->panels();
  is_stopped_ = keeper_.collective_ends(steps_, is_over, [this] { return state(); });
  return is_stopped_;
}

}  // namespace weft::solver
