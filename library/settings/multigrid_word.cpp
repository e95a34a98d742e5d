#include "library/settings/multigrid_word.h"

#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/settings/word_number.h"
#include "library/settings/word_settings.h"

namespace weft::library {
namespace {

using solver::MultigridSettings;

}  // namespace

MultigridSettings parse_multigrid(const std::string& text, MultigridSettings settings) {
  for (const auto& [item, key, value] : settings_in(text)) {
    if (key == "steps")
      settings.steps =
          static_cast<int>(whole_number(item, value, 1, MultigridSettings::most_steps));
    else if (item == "gather=auto")
      settings.least_points = 0;
    else if (key == "gather")
      settings.least_points =
          whole_number(item, value, 1, std::numeric_limits<std::int32_t>::max());
    else if (item == "start=zero" || item == "start=full")
      settings.has_full_start = value == "full";
    else if (item == "cycle=v")
      continue;  // the only one there is
    else if (item == "cycle=additive")
      throw comm_thread::InputError(
          "found 'cycle=additive', which was removed because the V-cycle is as quick; expected no "
          "cycle");
    else if (item == "precision=single" || item == "precision=double")
      settings.is_double = value == "double";
    else
      throw comm_thread::InputError("found '" + item +
                                    "'; expected steps=S, start=zero|full, "
                                    "precision=single|double or gather=N|auto, joined by commas");
  }
  return settings;
}

}  // namespace weft::library
