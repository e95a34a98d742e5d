#include <algorithm>
#include <array>
#include <string_view>

#include "library/include/weft/weft.hpp"
#include "library/options/eigen_settings.h"
#include "library/options/matrix_settings.h"
#include "library/options/solve_settings.h"

namespace weft {
inline namespace v0 {
namespace {

template <class Settings>
OptionHelp help_of(const library::OptionOf<Settings>& option) {
  return {option.name, option.value.type, option.value.limits, option.value.show(Settings{}),
          option.help};
}

}  // namespace

std::vector<OptionHelp> solver_options() {
  std::vector<OptionHelp> all;
  for (const auto& option : library::solve_options()) {
    // Those of a Matrix, which a Solver takes over.
    if (option.name == "operator" || library::find_option(library::matrix_options(), option.name))
      continue;
    all.push_back(help_of(option));
  }
  return all;
}

std::vector<OptionHelp> eigenvalue_options() {
  std::vector<OptionHelp> all;
  for (const auto& option : library::eigen_options()) all.push_back(help_of(option));
  return all;
}

}  // namespace v0
}  // namespace weft
