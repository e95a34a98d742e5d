#include "spmv/modes/mode.h"

#include <array>

namespace weft::spmv {
namespace {

constexpr std::array all_modes{Mode::vector, Mode::overlap, Mode::overlap_test, Mode::task};

}  // namespace

const char* name(Mode mode) {
  switch (mode) {
    case Mode::vector:
      return "vector";
    case Mode::overlap:
      return "overlap";
    case Mode::overlap_test:
      return "overlap-test";
    case Mode::task:
      break;
  }
  return "task";
}

std::optional<Mode> parse_mode(std::string_view text) {
  for (const Mode mode : all_modes)
    if (text == name(mode)) return mode;
  return std::nullopt;
}

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  for (const Mode mode : all_modes) names.emplace_back(name(mode));
  return names;
}

}  // namespace weft::spmv
