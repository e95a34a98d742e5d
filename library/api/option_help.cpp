#include <algorithm>
#include <array>
#include <string_view>

#include "library/include/weft/weft.hpp"
#include "library/options/matrix_settings.h"
#include "library/options/solve_settings.h"

namespace weft {
inline namespace v0 {

std::vector<OptionHelp> solver_options() {
  const library::SolveSettings standard;
  std::vector<OptionHelp> all;
  for (const auto& option : library::solve_options()) {
    // Those of a Matrix, which a Solver takes over.
    if (option.name == "operator" || library::find_option(library::matrix_options(), option.name))
      continue;
    all.push_back({option.name, option.value.type, option.value.limits, option.value.show(standard),
                   option.help});
  }
  return all;
}

}  // namespace v0
}  // namespace weft
