#include "tools/system/inner_multigrid.h"

#include <algorithm>
#include <string_view>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"

namespace weft::tools {
namespace {

constexpr std::string_view word = "multigrid";

}  // namespace

bool is_inner_multigrid(const std::string& text) {
  return text == word || text.starts_with("multigrid:");
}

InnerMultigrid parse_inner_multigrid(const std::string& text) {
  InnerMultigrid parsed;
  std::string_view left = text;
  left.remove_prefix(std::min(left.size(), word.size() + 1));
  while (!left.empty()) {
    const std::string_view setting = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), setting.size() + 1));
    const int steps = setting.starts_with("steps=")
                          ? comm_thread::number_in<int>(setting.substr(6)).value_or(0)
                          : 0;
    if (setting == "cycle=additive")
      parsed.cycle = solver::MultigridSweeper::Cycle::additive;
    else if (setting == "cycle=v")
      parsed.cycle = solver::MultigridSweeper::Cycle::multiplicative;
    else if (steps >= 1 && steps <= 4)
      parsed.steps = steps;
    else
      throw comm_thread::InputError("--inner: found '" + std::string(setting) +
                                    "'; expected cycle=additive, cycle=v or steps=N, N from 1 to "
                                    "4");
  }
  return parsed;
}

}  // namespace weft::tools
