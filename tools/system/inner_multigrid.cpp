#include "tools/system/inner_multigrid.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/settings/word_settings.h"

namespace weft::tools {
namespace {

constexpr std::string_view word = "multigrid";

/// Throws comm_thread::InputError.
std::vector<library::WordSetting> settings_of(const std::string& text) {
  try {
    return library::settings_in(text);
  } catch (const comm_thread::InputError& error) {
    throw comm_thread::InputError(std::string("--inner: ") + error.what());
  }
}

}  // namespace

bool is_inner_multigrid(const std::string& text) {
  return text == word || text.starts_with("multigrid:");
}

InnerMultigrid parse_inner_multigrid(const std::string& text) {
  InnerMultigrid parsed;
  for (const auto& [setting, key, value] :
       settings_of(text.substr(std::min(text.size(), word.size() + 1)))) {
    const int steps = key == "steps" ? comm_thread::number_in<int>(value).value_or(0) : 0;
    if (setting == "cycle=additive")
      parsed.cycle = solver::MultigridSweeper::Cycle::additive;
    else if (setting == "cycle=v")
      parsed.cycle = solver::MultigridSweeper::Cycle::multiplicative;
    else if (steps >= 1 && steps <= 4)
      parsed.steps = steps;
    else
      throw comm_thread::InputError("--inner: found '" + setting +
                                    "'; expected cycle=additive, cycle=v or steps=N, N from 1 to "
                                    "4");
  }
  return parsed;
}

}  // namespace weft::tools
