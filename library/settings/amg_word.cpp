#include "library/settings/amg_word.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/settings/word_number.h"
#include "library/settings/word_settings.h"
#include "solver/amg/polynomial.h"

namespace weft::library {
namespace {

using solver::amg::Settings;

constexpr std::string_view word = "amg";
constexpr std::int64_t most_direct_rows = 4000;
constexpr std::int64_t most_gather_rows = std::int64_t{1} << 40;

}  // namespace

Settings::Form parse_cycle(const std::string& text) {
  if (text == "auto") return Settings::Form::automatic;
  if (text == "V") return Settings::Form::v;
  if (text == "W") return Settings::Form::w;
  const std::string found = "found the cycle '" + text + "'";
  if (text == "additive")
    throw comm_thread::InputError(
        found +
        ", which was removed because V takes fewer iterations in the same time; expected V "
        "or none");
  if (text == "K")
    throw comm_thread::InputError(found +
                                  ", which was removed because V and W take less time and work "
                                  "with any method; expected V, W "
                                  "or none");
  throw comm_thread::InputError(found + "; expected V, W or auto");
}

std::string name_of(Settings::Form form) {
  switch (form) {
    case Settings::Form::automatic:
      return "auto";
    case Settings::Form::v:
      return "V";
    case Settings::Form::w:
      return "W";
  }
  return "";
}

bool is_amg(const std::string& text) {
  return text == word || text.starts_with(std::string(word) + ":");
}

Settings parse_amg(const std::string& text, Settings settings) {
  for (const auto& [item, key, value] :
       settings_in(text.substr(std::min(text.size(), word.size() + 1)))) {
    if (key == "strength")
      settings.strength = share(item, value);
    else if (key == "degree")
      settings.degree =
          static_cast<int>(whole_number(item, value, 1, solver::amg::Polynomial::most_degree));
    else if (key == "direct")
      settings.direct_rows = whole_number(item, value, 1, most_direct_rows);
    else if (item == "gather=auto")
      settings.gather_rows = 0;
    else if (key == "gather")
      settings.gather_rows = whole_number(item, value, 1, most_gather_rows);
    else if (item == "precision=single" || item == "precision=double")
      settings.precision =
          value == "single" ? Settings::Precision::in_float : Settings::Precision::in_double;
    else if (key == "cycle")
      settings.form = parse_cycle(value);
    else
      throw comm_thread::InputError(
          "found '" + item +
          "'; expected strength=S, degree=K, direct=N, gather=R|auto, precision=single|double or "
          "cycle=V|W|auto, joined by commas");
  }
  return settings;
}

}  // namespace weft::library
